//! The laws of every store. Each takes a source of empty stores.

mod forgetting;
mod keeping;
mod searching;

use tidegate_memory::record::Record;
use tidegate_memory::store::Store;
use tidegate_memory::view::{Filter, Page, Query};

use crate::rows::world;

pub(crate) use forgetting::*;
pub(crate) use keeping::*;
pub(crate) use searching::*;

pub(crate) trait Stores: Sized {
    /// `None` if this machine cannot have such a store.
    fn ready() -> Option<Self>;
    fn empty(&mut self) -> Box<dyn Store>;
}

/// One test per law.
macro_rules! laws {
    ($stores:ty) => {
        $crate::laws::laws! { $stores:
            putting_twice_changes_nothing
            the_newer_version_stands
            what_is_put_is_read
            what_is_referred_to_has_to_be_there
            numbers_are_kept_where_they_are_free
            pages_are_complete_and_in_order
            filters_leave_what_fits
            what_is_undecided
            offers_are_counted_by_session
            decisions_stand_until_they_do_not
            topics_move_and_are_never_parts_of_themselves
            a_log_is_found_by_the_beginning_of_its_uid
            every_row_goes_into_another_store
            what_is_to_be_summed_up_is_listed
            a_log_is_forgotten
            a_session_is_forgotten
            a_project_is_forgotten
            words_are_found
            questions_of_any_kind_are_answered
            what_fits_better_comes_first
            filters_hold_for_a_search
            what_changed_is_found_by_what_it_is_now
            any_word_of_a_text_finds_it
            a_forgotten_session_leaves_no_topic
            a_topic_called_by_a_forgotten_log
            topics_and_decisions_are_forgotten
            decisions_are_found_among_many_topics
            beginnings_and_parts_of_names_are_found
            words_that_hardly_meet_are_found
            a_compound_is_found_behind_its_words
            words_of_the_same_matter_are_found
            words_without_a_result_are_named
            a_projects_name_and_words_of_time_limit_a_search
            an_exchange_is_one_result
            the_clear_winner_is_the_same
        }
    };
    ($stores:ty: $($law:ident)*) => {
        $(
            #[test]
            fn $law() {
                if let Some(mut stores) = <$stores as $crate::laws::Stores>::ready() {
                    $crate::laws::$law(&mut stores);
                }
            }
        )*
    };
}
pub(crate) use laws;

fn everything() -> Page {
    Page { limit: 500, after: None }
}

fn all() -> Filter {
    Filter { all: true, ..Filter::default() }
}

fn filled(stores: &mut impl Stores) -> Box<dyn Store> {
    let mut store = stores.empty();
    store.put(&world()).unwrap();
    store
}

fn export(store: &mut dyn Store) -> Vec<Record> {
    let mut rows = Vec::new();
    store
        .for_each_record(&mut |record| {
            rows.push(record);
            Ok(())
        })
        .unwrap();
    rows
}

/// Ids differ between stores.
fn without_ids(mut records: Vec<Record>) -> Vec<Record> {
    for record in &mut records {
        match record {
            Record::Project(row) => row.id = None,
            Record::Topic(row) => row.id = None,
            Record::Decision(row) => row.id = None,
            Record::Session(_) | Record::Log(_) => {}
        }
    }
    records.sort_by(|one, other| (one.kind(), one.uid()).cmp(&(other.kind(), other.uid())));
    records
}

fn id_of_project(store: &mut dyn Store, name: &str) -> i64 {
    store.project_by_name(name).unwrap().unwrap().id
}

fn id_of_topic(store: &mut dyn Store, uid: &str) -> i64 {
    store.topic_by_uid(uid).unwrap().unwrap().id
}

fn logs(store: &mut dyn Store, filter: &Filter) -> Vec<String> {
    store.logs(filter, &everything()).unwrap().rows.into_iter().map(|log| log.row.uid).collect()
}

fn topics(store: &mut dyn Store, filter: &Filter) -> Vec<String> {
    store.topics(filter, &everything()).unwrap().rows.into_iter().map(|topic| topic.row.uid).collect()
}

fn decisions(store: &mut dyn Store, filter: &Filter) -> Vec<String> {
    store.decisions(filter, &everything()).unwrap().rows.into_iter().map(|one| one.row.uid).collect()
}

fn found(store: &mut dyn Store, text: &str) -> Vec<String> {
    let query = Query { text: text.to_owned(), limit: 100, ..Query::default() };
    store.search(&query).unwrap().hits.into_iter().map(|hit| hit.uid).collect()
}
