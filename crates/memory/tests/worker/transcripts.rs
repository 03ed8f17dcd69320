//! Transcripts that are late, gone, cut, replaced or unreadable.

use super::*;

#[test]
fn a_turn_that_ends_before_anything_is_written() {
    let mut world = World::new();
    world.stop("s1", "one");
    let transcript = world.transcript.clone();
    let looks = Cell::new(0);
    let come = |_: Duration| {
        looks.set(looks.get() + 1);
        if looks.get() == 3 {
            append(&transcript, &(user("u1", "first") + &said("m1", "one")));
        }
    };
    assert_eq!(world.work_with(None, &come).new, 1);
    assert_eq!(world.log("u1").row.answer, "one");
    // A host without transcripts: nothing was there, and nothing is lost.
    let mut world = World::new();
    world.stop("s1", "one");
    let report = world.work();
    assert_eq!((report.jobs, report.new, report.lost, report.left), (1, 0, 0, 0));
}

#[test]
fn an_answer_that_is_on_its_way_is_waited_for() {
    let mut world = World::new();
    world.say(&user("u1", "go"));
    world.stop("s1", "done");
    let looks = Cell::new(0);
    let path = world.transcript.clone();
    world.work_with(None, &|_| {
        looks.set(looks.get() + 1);
        if looks.get() == 3 {
            world::append(&path, &said("m1", "done"));
        }
    });
    assert_eq!((world.log("u1").row.answer.as_str(), looks.get()), ("done", 3));
    // An answer that never comes is awaited for a limited time, and not at all if it is late already.
    world.say(&user("u2", "and now?"));
    world.stop("s1", "never comes");
    looks.set(0);
    world.work_with(None, &|_| looks.set(looks.get() + 1));
    assert_eq!((world.log("u2").row.answer.as_str(), looks.get()), ("", 400));
    world.say(&user("u3", "well?"));
    world.stop("s1", "never comes either");
    world.now.set(Millis(NOW.0 + HOUR));
    world.work_with(None, &|_| panic!("it is late"));
    // A later job brings it.
    world.say(&said("m3", "here"));
    world.say(&user("u4", "last"));
    world.stop("s1", "");
    world.work();
    assert_eq!(world.log("u3").row.answer, "here");
}

#[test]
fn what_is_gone_is_said() {
    let mut world = World::new();
    world.say(&user("u1", "go"));
    world.say(&said("m1", "done"));
    world.stop("s1", "done");
    fs::remove_file(&world.transcript).unwrap();
    assert_eq!((world.work().lost, world.told.concat()), (1, "lost: the transcript is gone".to_owned()));
    // The file was started over: its content is stored.
    world.told.clear();
    world.say(&user("u2", "x"));
    let length = world.length();
    world.stop_from("s1", length + 1000, "done");
    let report = world.work();
    assert_eq!((report.lost, report.new), (1, 1));
    assert!(world.told.concat().contains("cut or begun anew"), "{:?}", world.told);
    assert!(spool::list(&world.state).unwrap().is_empty());
}

#[test]
fn what_is_left_of_a_transcript_that_was_cut_is_stored() {
    let mut world = World::new();
    world.say(&user("u0", "while nothing was recorded"));
    let from = world.length();
    for n in 1..=2 {
        world.say(&user(&format!("u{n}"), "go"));
        world.say(&said(&format!("m{n}"), &format!("answer {n}")));
    }
    world.stop_from("s1", from, "answer 2");
    let text = fs::read_to_string(&world.transcript).unwrap();
    fs::write(&world.transcript, &text[..text.find("u2").unwrap()]).unwrap();
    let report = world.work();
    assert_eq!((report.jobs, report.lost, report.new), (0, 1, 1));
    assert_eq!(world.log("u1").row.answer, "answer 1");
    assert!(world.told.concat().contains("cut or begun anew"), "{:?}", world.told);
    // The file is empty.
    world.told.clear();
    world.stop_from("s1", 0, "answer 1");
    fs::write(&world.transcript, "").unwrap();
    assert_eq!((world.work().lost, world.logs()), (1, 1));
    assert!(world.told.concat().contains("cut or begun anew (0 bytes"), "{:?}", world.told);
}

#[test]
fn a_transcript_that_another_took_the_place_of_is_said() {
    let mut world = World::new();
    turn(&mut world, "u1", "go");
    world.work();
    turn(&mut world, "u2", "go");
    let length = world.length();
    // As after a rotation: a longer file of another session, with prompts only before the start of the part.
    fs::remove_file(&world.transcript).unwrap();
    world.say(&user("other", "hello"));
    while world.length() <= length {
        world.say(&said("m", "something else"));
    }
    let report = world.work();
    assert_eq!((report.jobs, report.lost, world.logs()), (0, 1, 1));
    assert!(world.told.concat().contains("does not hold what was said"), "{:?}", world.told);
    assert!(spool::list(&world.state).unwrap().is_empty());
}

#[test]
fn what_cannot_be_read_now_is_tried_again_and_not_for_ever() {
    let mut world = World::new();
    world.say(&user("u1", "go"));
    world.stop("s1", "");
    let text = fs::read(&world.transcript).unwrap();
    fs::remove_file(&world.transcript).unwrap();
    fs::create_dir(&world.transcript).unwrap();
    let mut tries = 0;
    let start = world.now.get();
    while world.work().lost == 0 {
        assert_eq!(world.work().left, 1, "not before its time");
        tries += 1;
        let next = retries::read(&world.state).jobs.values().next().unwrap().next;
        assert!(next > world.now.get());
        world.now.set(next);
    }
    assert_eq!(tries, 3);
    assert!(world.now.get().since(start) > HOUR);
    assert_eq!(retries::read(&world.state).jobs.len(), 0);
    // A transcript that becomes readable in time is stored.
    fs::remove_dir(&world.transcript).unwrap();
    fs::write(&world.transcript, &text).unwrap();
    world.stop_from("s1", 0, "");
    fs::remove_file(&world.transcript).unwrap();
    fs::create_dir(&world.transcript).unwrap();
    assert_eq!(world.work().left, 1);
    fs::remove_dir(&world.transcript).unwrap();
    fs::write(&world.transcript, text).unwrap();
    world.now.set(Millis(world.now.get().0 + HOUR));
    assert_eq!((world.work().jobs, world.log("u1").row.prompt.as_str()), (1, "go"));
    assert_eq!(retries::read(&world.state), retries::Retries::default());
}
