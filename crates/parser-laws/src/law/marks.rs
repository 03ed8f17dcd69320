//! Any marks file; the short file that replaces a long one says the same.

use tidegate_core::feature::marks::Marks;

pub fn holds(bytes: &[u8]) {
    let marks = Marks::fold(bytes);
    // Bytes that are no UTF-8 are kept as well as text can keep them.
    if std::str::from_utf8(bytes).is_err() {
        return;
    }
    let mut again = Marks::fold(marks.to_lines().as_bytes());
    // A fraction may differ in its last digit when it is read back.
    if let (Some(host), Some(old)) = (&mut again.session.host, &marks.session.host) {
        host.percent = old.percent;
    }
    assert_eq!(again, marks);
}
