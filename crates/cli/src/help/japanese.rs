pub(super) const TEXTS: &[(&str, &str)] = &[];
pub(super) fn find(en: &str) -> Option<&'static str> {
    TEXTS.iter().find(|(known, _)| *known == en).map(|(_, ja)| *ja)
}
