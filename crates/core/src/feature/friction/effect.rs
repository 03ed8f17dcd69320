use crate::feature::verdict::Carried;

#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Remember that the person was told that this policy stepped down here.
    StepDownTold(String),
}

impl Carried for Effect {
    fn is_private(&self) -> bool {
        false
    }
}
