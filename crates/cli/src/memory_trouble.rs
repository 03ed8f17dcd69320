//! What keeps a reader from the memory, and the command that fixes it: for views that change nothing themselves.

use tidegate_memory::error::{Error, ErrorKind};

use crate::bilingual::both;
use crate::error::CliError;

pub(crate) fn describe_trouble(error: Error) -> CliError {
    let what = &error.what;
    match error.kind {
        ErrorKind::Older => CliError::new(both!(
            "the memory was written by an older Tidegate, and this view changes nothing",
            "記憶は古い版の Tidegate が書いたもので、この画面からは変更しません"
        ))
        .hint(both!(
            "run `tidegate memory check`: it keeps a copy and brings the memory up to date",
            "`tidegate memory check` を実行すると、控えを残して新しい形式に直します"
        )),
        ErrorKind::Damaged => CliError::new(both!(
            "the memory is damaged, and this view leaves it as it is: {what}",
            "記憶が壊れています。この画面からは変更しません: {what}"
        ))
        .hint(both!(
            "run `tidegate memory check --repair`: it sets the file aside and rebuilds it from the newest copy",
            "`tidegate memory check --repair` を実行すると、壊れたファイルを取り分け、最新の控えから作り直します"
        )),
        ErrorKind::Newer => CliError::new(both!(
            "the memory was written by a newer Tidegate: {what}",
            "記憶は新しい版の Tidegate が書いたものです: {what}"
        ))
        .hint(both!("use the newer Tidegate", "新しい版の Tidegate を使ってください")),
        _ => {
            let error = CliError::from(error);
            if error.hint.is_some() {
                return error;
            }
            error.hint(both!(
                "`tidegate doctor` looks for the cause",
                "原因は `tidegate doctor` で調べられます"
            ))
        }
    }
}
