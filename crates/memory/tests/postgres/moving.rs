//! Moves a whole store to a server.

use tidegate_memory::record::Record;
use tidegate_memory::store::Store;
use tidegate_memory::team;
use tidegate_team_server::{Proxy, Way};

use crate::machine::Machine;
use crate::rows::{log, world};
use crate::scene::Scene;

#[test]
fn a_store_moves_whole_and_again_and_on_after_a_break() {
    let Some(scene) = Scene::shared() else { return };
    let proxy = Proxy::before(scene.cluster.port()).unwrap();
    let ann = Machine::sharing(&[], scene.address_by(proxy.port()));
    ann.memory().put(&world()).unwrap();
    let many: Vec<Record> = (0..450).map(|n| Record::Log(log(&format!("m{n}"), "t1", 100 + n))).collect();
    ann.memory().put(&many).unwrap();
    drop(scene.store());
    proxy.cut_after(60_000);
    let mut seen = Vec::new();
    team::migrate(&mut ann.memory(), &ann.address, &mut |done| seen.push(done)).unwrap_err();
    proxy.set(Way::Open);
    let moved = team::migrate(&mut ann.memory(), &ann.address, &mut |done| seen.push(done)).unwrap();
    assert_eq!((moved.all(), moved.forgotten), (world().len() + 450, 0));
    assert_eq!(seen.last(), Some(&moved.all()));
    let again = team::migrate(&mut ann.memory(), &ann.address, &mut |_| ()).unwrap();
    assert_eq!((again.new, again.all()), (0, moved.all()));
    // All rows are there, without the ids and folders of this machine.
    let plain = |records: Vec<Record>| {
        let mut rows: Vec<Record> = records
            .into_iter()
            .map(|mut record| {
                match &mut record {
                    Record::Project(row) => (row.id, row.key) = (None, None),
                    Record::Topic(row) => (row.id, row.offered, row.offered_at) = (None, 0, None),
                    Record::Decision(row) => row.id = None,
                    Record::Session(row) => row.root.clear(),
                    Record::Log(_) => {}
                }
                record
            })
            .collect();
        rows.sort_by(|one, other| (one.kind(), one.uid()).cmp(&(other.kind(), other.uid())));
        rows
    };
    let all = |store: &mut dyn Store| {
        let mut rows = Vec::new();
        store
            .for_each_record(&mut |record| {
                rows.push(record);
                Ok(())
            })
            .unwrap();
        plain(rows)
    };
    assert_eq!(all(&mut scene.store()), all(&mut ann.memory()));
}
