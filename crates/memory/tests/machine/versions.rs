//! Stores of older and newer versions, and of other programs.

use super::*;

#[test]
fn of_what_an_older_store_shared_the_team_is_told_the_end() {
    let machine = Machine::new();
    let project = machine.filled().project_by_name("p1").unwrap().unwrap().id;
    let older = rusqlite::Connection::open(machine.home().file()).unwrap();
    older
        .execute_batch(
            "ALTER TABLE decision DROP COLUMN taken_by; DROP TABLE pulled; DROP TABLE told; DROP TABLE few_term; DROP TABLE few; UPDATE about SET value = '1' WHERE name = 'tokens';
            UPDATE project SET shared = uid = 'p1'; PRAGMA user_version = 1",
        )
        .unwrap();
    drop(older);
    let mut memory = machine.open();
    assert!(memory.store().check().unwrap().is_empty(), "what is no log has an index now");
    let gone = memory.forget(&Forget::Project(project)).unwrap();
    let told = memory.store().outbox_forgotten(0, 100).unwrap();
    assert_eq!(told.into_iter().map(|(_, uid)| uid).collect::<Vec<_>>(), gone);
    assert!(memory.forget(&Forget::Log("l4".to_owned())).is_ok());
    assert_eq!(memory.store().outbox_forgotten(0, 100).unwrap().len(), gone.len(), "nobody was told of p2");
}

#[test]
fn a_store_that_kept_no_list_of_pulled_rows_begins_one() {
    let machine = Machine::new();
    let all = |memory: &mut Memory| {
        let mut rows = Vec::new();
        memory
            .for_each_record(&mut |record| {
                rows.push(record);
                Ok(())
            })
            .unwrap();
        rows
    };
    let before = all(&mut machine.filled());
    let older = rusqlite::Connection::open(machine.home().file()).unwrap();
    older
        .execute_batch(
            "ALTER TABLE decision DROP COLUMN taken_by; DROP TABLE pulled; PRAGMA user_version = 3",
        )
        .unwrap();
    drop(older);
    let mut memory = machine.open();
    assert_eq!(all(&mut memory), before);
    assert!(memory.store().origins().unwrap().is_empty(), "all of it counts as written here");
    let copy = machine.home().backups().join("before-version-5-3.db");
    assert!(is_sound(&copy));
    let theirs = Foreign { record: Record::Topic(topic("theirs", "p1")), origin: "them".to_owned() };
    memory.store().put_from_team(&[theirs]).unwrap();
    assert_eq!(memory.store().origins().unwrap(), [("theirs".to_owned(), "them".to_owned())].into());
}

#[test]
fn a_newer_store_is_left_alone() {
    let machine = Machine::new();
    drop(machine.filled());
    let newer = rusqlite::Connection::open(machine.home().file()).unwrap();
    newer.pragma_update(None, "user_version", 99).unwrap();
    drop(newer);
    let bytes = fs::read(machine.home().file()).unwrap();
    let error = machine.open_at(at(1)).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Newer);
    assert!(error.what.contains("99") && error.hint.unwrap().contains("newer"));
    assert_eq!(fs::read(machine.home().file()).unwrap(), bytes);
    assert!(machine.home().damaged_files().is_empty());
}

#[test]
fn another_programs_database_is_left_alone() {
    let machine = Machine::new();
    fs::create_dir_all(machine.home().folder()).unwrap();
    let other = rusqlite::Connection::open(machine.home().file()).unwrap();
    other.execute_batch("CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)").unwrap();
    drop(other);
    assert_eq!(machine.open_at(at(1)).unwrap_err().kind, ErrorKind::Refused);
}
