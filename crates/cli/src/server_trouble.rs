//! What can be wrong with a team's server, in Japanese: the words and the next step. The memory has them in English.

use tidegate_memory::postgres::Trouble;

pub(crate) fn japanese_words(trouble: &Trouble) -> String {
    let plain = match trouble {
        Trouble::UnknownHost => "このホスト名は見つかりません",
        Trouble::PortClosed => "接続できません。このポートで待ち受けているサーバーがありません",
        Trouble::Unreachable(why) => return format!("接続できません（{why}）"),
        Trouble::TimedOut(ms) => return format!("{ms}ミリ秒以内に応答がありませんでした"),
        Trouble::Closed => "接続が切れました",
        Trouble::NoTls => "TLS に対応していないため、何も送りません",
        Trouble::UnknownAuthority => "接続を信頼できません。サーバー証明書の発行元が分かりません",
        Trouble::CertificateOfOtherName => "接続を信頼できません。サーバー証明書は別の名前のものです",
        Trouble::CertificateNotValidNow => {
            "接続を信頼できません。サーバー証明書は現在の日時では有効ではありません"
        }
        Trouble::Untrusted(why) => return format!("接続を信頼できません（{why}）"),
        Trouble::NoPassword => "パスワードが必要ですが、設定されていません",
        Trouble::WrongPassword => "ユーザー名かパスワードが違います",
        Trouble::NotAdmitted => "このマシンからこのユーザーではログインできません",
        Trouble::NoDatabase => "この名前のデータベースはありません",
        Trouble::NotMember => "このユーザーはチームのメンバーではありません",
        Trouble::NoTables => "このデータベースにチームのストアはありません",
        Trouble::OlderTables(found) => {
            return format!("チームのストアのテーブルはバージョン{found}で、このプログラムには古すぎます");
        }
        Trouble::NewerTables(found) => {
            return format!(
                "チームのストアのテーブルはバージョン{found}で、このプログラムより新しいものです"
            );
        }
        Trouble::TooManyConnections => "接続数が上限に達しています",
        Trouble::Starting => "サーバーは起動または停止の途中です",
    };
    plain.to_owned()
}

pub(crate) fn japanese_hint(trouble: &Trouble) -> &'static str {
    match trouble {
        Trouble::UnknownHost => {
            "ホスト名の綴りと、このマシンがサーバーのネットワーク（VPN）につながっているかを確認してください"
        }
        Trouble::PortClosed => {
            "ホストとポートを確認してください。管理者は PostgreSQL が動いているか、`listen_addresses` が正しいかを確認してください"
        }
        Trouble::Unreachable(_) | Trouble::TimedOut(_) => {
            "ホスト、ポート、ネットワーク（VPN、ファイアウォール）を確認して、もう一度実行してください"
        }
        Trouble::Closed => "このアドレスに PostgreSQL サーバーがあるかを確認して、もう一度実行してください",
        Trouble::NoTls => {
            "サーバーで TLS を有効にしてください（`ssl = on`）。このマシンのサーバーに限り、`[memory.team] tls = \"off\"` も使えます"
        }
        Trouble::UnknownAuthority | Trouble::Untrusted(_) => {
            "発行元の証明書を管理者からもらい、`--ca-file` または `[memory.team] ca_file` で指定してください"
        }
        Trouble::CertificateOfOtherName => {
            "アドレスのホストを証明書と同じ名前にしてください。名前は管理者に聞いてください"
        }
        Trouble::CertificateNotValidNow => "このマシンの時計を確認してください。証明書は管理者が更新します",
        Trouble::NoPassword => {
            "PGPASSWORD か、`[memory.team] password_variable` で指定した環境変数に入れてください"
        }
        Trouble::WrongPassword => {
            "アドレスのユーザー名と、パスワードの環境変数（`[memory.team] password_variable`、なければ PGPASSWORD）を確認してください。新しいパスワードは、管理者が `tidegate memory team invite` で作れます"
        }
        Trouble::NotAdmitted => "管理者が `pg_hba.conf` で許可してください",
        Trouble::NoDatabase => {
            "アドレスの最後の `/` の後の名前を確認してください。データベースは管理者が作成します"
        }
        Trouble::NotMember => "管理者がこの名前で `tidegate memory team invite` を実行してください",
        Trouble::NoTables | Trouble::OlderTables(_) => {
            "管理者がこのアドレスで `tidegate memory team create` を実行してください"
        }
        Trouble::NewerTables(_) => "このマシンの tidegate を新しくしてください",
        Trouble::TooManyConnections => {
            "少し待ってからもう一度実行してください。管理者は `max_connections` を増やせます"
        }
        Trouble::Starting => "1分ほど待ってからもう一度実行してください",
    }
}
