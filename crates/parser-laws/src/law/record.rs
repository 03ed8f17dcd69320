//! Any line of a journal; what can be read is written as one line that can be read.

use tidegate_core::pipeline::record::Record;

pub fn holds(bytes: &[u8]) {
    if let Ok(record) = serde_json::from_slice::<Record>(bytes) {
        let line = record.to_line();
        assert_eq!(line.find('\n'), Some(line.len() - 1));
        let again: Record = serde_json::from_str(&line).expect("we read what we write");
        assert_eq!((again.v, again.id, again.verdicts.len()), (record.v, record.id, record.verdicts.len()));
    }
}
