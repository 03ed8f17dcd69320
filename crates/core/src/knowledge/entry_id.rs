//! What names an entry, whoever moves it.
