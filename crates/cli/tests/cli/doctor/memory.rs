//! `doctor` on the memory: each thing broken on its own.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::json;
use tidegate_core::feature::memory::job::{Job, VERSION, Work};
use tidegate_core::pipeline::record::FailedCheck;
use tidegate_core::time::Millis;
use tidegate_state::clock;
use tidegate_state::feature::memory::retries;
use tidegate_state::feature::memory::retries::{Retries, Retry};
use tidegate_state::feature::memory::spool;
use tidegate_state::place::{PlaceEnv, StateDir};

use super::{HOUR, healthy, only, record, says, wrong};
use crate::sandbox::Sandbox;

const DAY: u64 = 24 * HOUR;

fn store(sandbox: &Sandbox) -> PathBuf {
    sandbox.home().join(".local/share/tidegate/memory/memory.db")
}

/// A healthy project with something in its memory.
fn remembered() -> Sandbox {
    let sandbox = healthy();
    let ran = sandbox.run(&["memory", "topic", "add", "search"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    sandbox
}

fn state(sandbox: &Sandbox) -> StateDir {
    let place = PlaceEnv { state_dir: Some(sandbox.state()), ..PlaceEnv::default() };
    StateDir::open(&place).expect("our own folder")
}

/// Leaves a job some time ago.
fn leave(sandbox: &Sandbox, ago: u64) {
    let at = Millis(clock::now().0 - ago);
    let work = Work::Offered { topics: vec![1] };
    spool::put(&state(sandbox), &Job { v: VERSION, at, session: "s".to_owned(), work }).expect("room");
}

#[test]
fn a_sound_memory() {
    let (is, found) = says(&healthy(), "memory");
    assert_eq!((is.as_str(), found.as_str()), ("ok", "Nothing is stored yet."));
    let sandbox = remembered();
    leave(&sandbox, 1000);
    assert_eq!(wrong(&sandbox), [""; 0], "a job that just came");
    let (is, found) = says(&sandbox, "memory");
    assert_eq!(is, "ok");
    assert!(found.ends_with("memory/memory.db holds 0 exchanges."), "{found}");
    sandbox.config("[recording]\nmode = \"off\"\n");
    assert!(says(&sandbox, "memory").1.ends_with(" Tidegate records nothing here."));
}

#[test]
fn a_store_that_cannot_be_used() {
    let sandbox = remembered();
    let sound = fs::read(store(&sandbox)).expect("the store");
    fs::write(store(&sandbox), [b"SQLite format 3\0".as_slice(), &[7; 9000]].concat()).expect("our own");
    only(&sandbox, "memory problem", &["damaged", "memory check --repair"]);
    fs::write(store(&sandbox), b"").expect("our own");
    only(&sandbox, "memory problem", &["is empty", "memory check --repair"]);
    // The version of the tables, in the header of the file.
    let mut newer = sound.clone();
    newer[60..64].copy_from_slice(&99_u32.to_be_bytes());
    fs::write(store(&sandbox), &newer).expect("our own");
    only(&sandbox, "memory problem", &["a newer tidegate", "use the newer tidegate"]);
    let mut foreign = sound.clone();
    foreign[68..72].copy_from_slice(&7_u32.to_be_bytes());
    fs::write(store(&sandbox), &foreign).expect("our own");
    only(&sandbox, "memory problem", &["another program's", "TIDEGATE_DATA_DIR"]);
    assert_eq!(fs::read(store(&sandbox)).expect("our own"), foreign, "it was only looked at");
    fs::write(store(&sandbox), &sound).expect("our own");
    assert_eq!(wrong(&sandbox), [""; 0]);
}

#[test]
fn a_folder_that_others_can_read_or_nobody_can_write() {
    let sandbox = remembered();
    let folder = store(&sandbox).parent().expect("a folder").to_owned();
    let set = |mode| fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).expect("our own");
    set(0o755);
    only(&sandbox, "memory warning", &["Other users can read", "`chmod go-rwx"]);
    set(0o700);
    fs::set_permissions(store(&sandbox), fs::Permissions::from_mode(0o644)).expect("our own");
    only(&sandbox, "memory warning", &["Other users can read", "memory.db"]);
    let sandbox = healthy();
    fs::create_dir_all(sandbox.home().join(".local/share/tidegate")).expect("a new folder");
    fs::write(sandbox.home().join(".local/share/tidegate/memory"), b"").expect("a new file");
    only(&sandbox, "memory problem", &["cannot write to its memory", "it is not a folder"]);
}

#[test]
fn a_password_in_a_config_that_others_can_read() {
    let sandbox = healthy();
    let config = sandbox.home().join(".config/tidegate/config.toml");
    let set = |mode| fs::set_permissions(&config, fs::Permissions::from_mode(mode)).expect("our own");
    sandbox.config("[memory.team]\nurl = \"postgres://me@localhost/m\"\n");
    set(0o644);
    assert_eq!(wrong(&sandbox), [""; 0], "there is none in it");
    sandbox.config("[memory.team]\nurl = \"postgres://me:s3cret@localhost/m\"\n");
    only(&sandbox, "config warning", &["holds the password of the team's server", "chmod go-rwx"]);
    set(0o600);
    assert_eq!(wrong(&sandbox), [""; 0]);
}

#[test]
fn jobs_that_nobody_takes() {
    let sandbox = healthy();
    leave(&sandbox, 2 * HOUR);
    leave(&sandbox, HOUR / 2);
    only(
        &sandbox,
        "memory warning",
        &["2 jobs wait to be stored in the memory, the oldest since", "worker --once"],
    );

    let sandbox = healthy();
    leave(&sandbox, 1000);
    let name = spool::list(&state(&sandbox)).expect("our own")[0]
        .path
        .file_name()
        .map(std::borrow::ToOwned::to_owned);
    let name = name.expect("a name").to_string_lossy().into_owned();
    let retry = |tries| Retry { tries, next: Millis(clock::now().0 + HOUR), lang: None };
    let jobs = BTreeMap::from([(name, retry(1)), ("gone.json".to_owned(), retry(1))]);
    let waits = Retries { jobs, ..Retries::default() };
    retries::write(&state(&sandbox), &waits).expect("room");
    only(&sandbox, "memory warning", &["could not store 1 job in the memory"]);
    let summaries = BTreeMap::from([("a".to_owned(), retry(3)), ("b".to_owned(), retry(1))]);
    retries::write(&state(&sandbox), &Retries { summaries, ..Retries::default() }).expect("room");
    only(&sandbox, "memory warning", &["did not summarise 1 exchange", "[memory.summary]"]);

    let sandbox = healthy();
    leave(&sandbox, 1000);
    let spool = sandbox.state().join("spool");
    fs::write(spool.join("000000000000001-s-1.json"), r#"{"v": 99}"#).expect("a new file");
    only(&sandbox, "memory warning", &["1 job for the memory", "newer Tidegate"]);
    fs::remove_file(spool.join("000000000000001-s-1.json")).expect("our own");
    fs::create_dir(spool.join("damaged")).expect("a new folder");
    fs::write(spool.join("damaged/x.json"), "{").expect("a new file");
    only(&sandbox, "memory warning", &["put 1 file aside", "spool/damaged"]);
}

#[test]
fn a_worker_that_fails() {
    let sandbox = healthy();
    let fail = |class: &str| {
        record(&sandbox, Millis(clock::now().0 - HOUR), "worker", "", |record| {
            record.project = None;
            record.failure = Some(FailedCheck {
                class: class.to_owned(),
                step: "the disk is full".to_owned(),
                closed: false,
            });
        });
    };
    fail("store");
    fail("transcript");
    assert_eq!(wrong(&sandbox), [""; 0], "now and then");
    assert_eq!(says(&sandbox, "memory").0, "note");
    fail("store");
    fail("store");
    only(&sandbox, "memory warning", &["failed 3 times", "(store)", "the disk is full", "tidegate explain"]);
}

#[test]
fn a_team_that_is_not_told() {
    let sandbox = remembered();
    sandbox.config(
        "[memory.team]\nurl = \"postgres://me:s3cret@127.0.0.1:1/memory\"\nprojects = [\"project\"]\n",
    );
    let config = sandbox.home().join(".config/tidegate/config.toml");
    fs::set_permissions(config, fs::Permissions::from_mode(0o600)).expect("our own");
    let now = clock::now().0;
    let standing = |told: u64, times: u32| {
        let failure = json!({ "at": now - 1000, "what": "127.0.0.1: connection refused", "times": times, "next": now + HOUR });
        let standing = json!({ "machine": "m", "succeeded": now - told, "failure": failure });
        fs::write(store(&sandbox).with_file_name("team.json"), standing.to_string()).expect("room");
    };
    standing(HOUR, 9);
    assert_eq!(wrong(&sandbox), [""; 0], "away for an hour");
    standing(3 * DAY, 9);
    only(
        &sandbox,
        "memory warning",
        &["postgres://me@127.0.0.1:1/memory", "connection refused", "worker --once"],
    );
}
