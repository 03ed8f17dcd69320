//! Pages for a browser: `tidegate serve` on loopback, and reports in one file.
//!
//! ```text
//! request ─ guard ─► server ─► view ─► document ─► response
//!                                └─ journal, marks, store
//! ```
//!
//! Nothing here changes anything: there is no route that writes. Every text may come from a transcript, so all of it goes
//! through `maud`, which escapes, and each page through `show_hidden`. Pages are complete without scripts; the one script keeps them up
//! to date.

pub(crate) mod bars;
pub(crate) mod document;
mod drawing;
pub(crate) mod guard;
pub(crate) mod page_file;
pub(crate) mod server;
pub(crate) mod site;
mod view;
