//! Whether a part of a sentence takes a constraint back.

use super::act::{Act, GENERAL, PLACES, Place, head_of};
use super::clause::is_alike;
use super::{
    AREAS, CHANGE, ConstraintKind, Gist, LIBRARIES, LIGHT, OTHERS, Part, READS, SAME, UNDOES, WORK,
    is_sibling,
};
use crate::text::word_list::among;

fn is_same_verb(own: &str, other: &str) -> bool {
    own == other
        || among("touch chang edit modify alter updat break", own) && among(CHANGE, other)
        || SAME.iter().any(|same| own_class(own, same) && among(same, other))
}

/// A class is of the verb that it begins with.
fn own_class(own: &str, same: &str) -> bool {
    same.split(' ').next() == Some(own) || !among(SAME[0], own) && among(same, own)
}

impl Gist {
    pub(super) fn is_covered_by(&self, part: &Part) -> bool {
        let count = |stems: &[String]| stems.iter().filter(|stem| self.all.contains(stem)).count();
        match part {
            Part::All => true,
            Part::TakesBack { subject, names_rule } => {
                // "The freeze is over", after "while the release freeze is on, …".
                let is_period = *names_rule
                    && matches!(subject.as_slice(), [one] if among("freez ban embargo moratorium", one) && self.all.contains(one));
                let is_size = *names_rule
                    && self.has_number
                    && subject.iter().all(|stem| among("siz length lin", stem));
                is_period
                    || is_size
                    || super::super::is_about(count(subject), subject.len(), self.all.len(), *names_rule)
            }
            Part::Releases { stems } => self.is_released_by(stems),
            Part::Frees { subject } => {
                let shared = count(subject);
                self.kind == ConstraintKind::Forbids
                    && shared == subject.len()
                    && shared * 2 >= self.stems.len()
            }
            Part::Acts(act) => match self.kind {
                ConstraintKind::Requires => self.is_rejected(act) || self.is_dropped_by(act),
                ConstraintKind::Limits => {
                    self.is_exceeded_by(act)
                        || self.only_looks
                            && act.verb.as_deref().is_some_and(|verb| among("fix app imple", verb))
                }
                ConstraintKind::Forbids => self.is_broken_by(act),
            },
            Part::Uses { what, stem } => {
                let is_forbidden = self.kind == ConstraintKind::Forbids
                    && self.verb.as_deref().is_none_or(|own| own == "use")
                    && self.needed() == [stem.as_str()];
                self.rejected.as_ref() == Some(what) || is_forbidden
            }
            Part::States { stems } => {
                let is_met = !self.until.is_empty() && self.until.iter().all(|stem| stems.contains(stem));
                is_met
                    && stems.first().is_some_and(|first| self.until.contains(first))
                    && stems.len() <= self.until.len() + 2
            }
            Part::Speaks { language, stems } => {
                let other = self.language.as_ref().is_some_and(|own| own != language);
                (other && self.kind != ConstraintKind::Forbids
                    || !other && self.kind == ConstraintKind::Forbids && self.language.is_some())
                    && stems.iter().all(|stem| self.all.contains(stem))
            }
            Part::Consents => self.waits,
            Part::Together => self.singly,
            Part::AtLength => self.short,
            Part::WithoutLimit => self.kind == ConstraintKind::Limits && self.has_number,
        }
    }

    fn is_released_by(&self, stems: &[String]) -> bool {
        let mere = "ask check confirm time now first each every back bother anymore more whatever whatev unused unus everyth anything all old need";
        if self.asks && stems.iter().any(|stem| among("ask check confirm", stem)) {
            return stems
                .iter()
                .all(|stem| among(mere, stem) || among(GENERAL, stem) || self.all.contains(stem));
        }
        let shared = self.all.iter().filter(|stem| stems.contains(stem)).count();
        // "No need to ask any more" names nothing else.
        let names_deed = !stems.is_empty()
            && stems.iter().all(|stem| self.all.contains(stem))
            && stems.iter().any(|stem| !among(GENERAL, stem));
        let is_named = shared > 0 && shared * 5 >= self.all.len() * 3;
        match self.kind {
            ConstraintKind::Requires => is_named || names_deed,
            ConstraintKind::Limits => is_named,
            ConstraintKind::Forbids => false,
        }
    }

    /// "Spaces are fine", for "tabs, not spaces".
    fn is_rejected(&self, act: &Act) -> bool {
        let rejected = self.rejected.as_deref();
        act.verb.is_none()
            && matches!(act.object.as_slice(), [one] if rejected.is_some_and(|what| what.starts_with(one.as_str())))
    }

    /// "Drop the headers", where every file has to keep its header.
    fn is_dropped_by(&self, act: &Act) -> bool {
        let keeps = self.all.iter().any(|stem| among("keep preserv", stem));
        let drops = act.verb.as_deref().is_some_and(|verb| {
            among("drop skip omit", verb) || keeps && among("remov delet bump upgrad replac kill", verb)
        });
        let is_own = |stem: &String| among(GENERAL, stem) || self.all.contains(stem);
        drops && act.object.iter().all(is_own) && act.object.iter().any(|stem| self.all.contains(stem))
    }

    fn is_exceeded_by(&self, act: &Act) -> bool {
        let verb = act.verb.as_deref().unwrap_or("be");
        let within = |name: &str| {
            self.path.as_deref().is_some_and(|path| name.starts_with(path.trim_end_matches('/')))
        };
        if let Some(path) = self.path.as_deref().filter(|_| among(CHANGE, verb)) {
            // "Also change packages/web", where only packages/api was to be changed.
            let place = act.places.iter().filter(|(place, _)| among(PLACES, place));
            let mut targets = act.object.iter().chain(place.flat_map(|(_, stems)| stems));
            if targets.any(|name| is_sibling(name, path) && !within(name)) {
                return true;
            }
        }
        // "Do it in the backend too", where only the frontend was to be changed.
        let area = self.all.iter().find(|stem| among(AREAS, stem));
        if area.is_some() && act.exceeds && !among(READS, verb)
            || area.is_some() && act.exceeds && among("do app imple add", verb)
        {
            let mut others = act.names().filter(|name| among(AREAS, name));
            if others.next().is_some_and(|other| !self.all.iter().any(|stem| stem == other)) {
                return true;
            }
        }
        // "It can be longer."
        let is_longer = act.is_permission
            && self.has_number
            && act.names().all(|name| self.all.iter().any(|stem| stem == name));
        if act.exceeds && is_longer && among("be hav", verb) {
            return true;
        }
        let all = self
            .stems
            .iter()
            .all(|stem| act.names().any(|name| name == stem) || act.verb.as_ref() == Some(stem));
        let same_verb = self.all.iter().any(|stem| among(CHANGE, stem)) && among(CHANGE, verb);
        let other =
            act.head().is_some_and(|head| !among(GENERAL, head) && !self.all.iter().any(|stem| stem == head));
        act.exceeds && (all || act.is_permission && same_verb && other && !act.names().any(within))
    }

    /// Whether the act does what is forbidden.
    fn is_broken_by(&self, act: &Act) -> bool {
        let needed = self.needed();
        let verb = act.verb.as_deref();
        let is_own = |stem: &str| {
            self.stems
                .iter()
                .any(|own| is_alike(own, stem) || among(LIBRARIES, own) && among(LIBRARIES, stem))
                || self.verb.as_deref() == Some(stem)
        };
        // "Force-push it" names both of its words.
        let deed = |stem: &str| verb.is_some_and(|verb| is_alike(stem, verb) || is_alike(verb, stem));
        // "Make the colours darker."
        let makes =
            verb == Some("mak") && !act.object.iter().any(|stem| among("pass green work run compil", stem));
        let head = if makes { act.object.first().map(String::as_str).or(act.head()) } else { act.head() };
        // "Don't change code yet", and "make the change", "implement it".
        let begins_work = self.for_now
            && !act.is_permission
            && needed.iter().all(|stem| among("cod code anything", stem))
            && self
                .verb
                .as_deref()
                .is_some_and(|own| among(CHANGE, own) || among("writ cod imple edit", own))
            && (verb.is_some_and(|verb| among("imple app build cod fix", verb) || among(CHANGE, verb))
                || verb.is_some_and(|verb| among("mak writ start do", verb))
                    && act.head().is_some_and(|head| among("chang edit cod code fix imple", head)))
            && !act.names().any(|name| among("plan test docu doc readm note list report", name));
        if begins_work {
            return true;
        }
        // "It's fine, apply it", after "never run terraform apply".
        let runs_it = self.verb.as_deref() == Some("run")
            && act.points
            && act.antecedent.iter().all(|stem| among("plan output diff", stem))
            && verb.is_some_and(|verb| self.stems.last().is_some_and(|last| last == verb));
        // "You can start the eval on the GPU box", after "don't run anything on the GPU box".
        let is_any_there = self.anything
            && act.is_permission
            && !needed.is_empty()
            && match (self.verb.as_deref(), verb) {
                (Some(own), Some(other)) => is_same_verb(own, other),
                _ => false,
            }
            && act
                .places
                .iter()
                .any(|(_, stems)| needed.iter().all(|stem| stems.iter().any(|name| name == stem)));
        if runs_it || is_any_there {
            return true;
        }
        let does_noun = verb.is_some_and(|verb| among(LIGHT, verb)) && head.is_some_and(is_own);
        let is_light_verb = |own: &str| among("do writ", own) || verb == Some("do") && among(CHANGE, own);
        let adds = |own: &str| among("add introduc creat put leav", own);
        let brings = |other: &str| act.is_one && !act.object.is_empty() && !among(UNDOES, other);
        let touches = |own: &str| among("touch chang edit modify", own);
        let same_verb = match (self.verb.as_deref(), verb) {
            (Some(own), Some(other)) => {
                is_same_verb(own, other)
                    || deed(own)
                    || among(LIGHT, own) && needed.iter().any(|stem| deed(stem))
                    || touches(own) && !needed.is_empty() && !among(READS, other) && head.is_some_and(is_own)
                    || adds(own) && brings(other)
                    || touches(own) && needed.is_empty() && among("mak app imple", other)
                    || own == "writ" && self.all.iter().any(|stem| stem == "cod") && among("imple cod", other)
            }
            (None, Some(other)) => {
                among(SAME[0], other)
                    || brings(other)
                    || needed.is_empty()
                        && self.stems.iter().any(|stem| stem == "cod")
                        && among("imple cod build", other)
                    || needed.iter().any(|stem| deed(stem))
            }
            (Some(own), None) => self.closed || among("use hav add creat", own) || head == Some(own),
            (None, None) => true,
        };
        let is_light =
            does_noun && self.verb.as_deref().is_none_or(|own| is_light_verb(own) || head == Some(own));
        // "Implement it in the workflows" changes the workflows.
        let is_inside = || {
            let changes =
                verb.is_some_and(|verb| among("imple add put app fix", verb) || !among(READS, verb));
            let is_place = |(place, stems): &Place| {
                among(PLACES, place)
                    && head_of(stems).is_some_and(is_own)
                    && needed.iter().all(|stem| stems.iter().any(|name| is_alike(stem, name)))
            };
            self.verb.as_deref().is_some_and(touches)
                && !needed.is_empty()
                && changes
                && act.places.iter().any(is_place)
        };
        // "Rewrite it in TypeScript", "do it with jQuery".
        let is_used = || {
            self.verb.as_deref().is_none_or(|own| own == "use")
                && verb.is_some_and(|verb| {
                    among(
                        "convert port rewrit migr mov switch go redo build do imple mak solv writ turn",
                        verb,
                    )
                })
                && act
                    .places
                    .iter()
                    .any(|(place, stems)| among("to in with on", place) && head_of(stems).is_some_and(is_own))
                && needed.len() == 1
        };
        if is_used() {
            return true;
        }
        if self.only_looks && verb.is_some_and(|verb| among("fix app imple", verb)) {
            return true;
        }
        if !same_verb && !is_light && !is_inside() {
            return false;
        }
        if self.installs_library(act) {
            return true;
        }
        // What is there already may be installed.
        if self.only_new
            && self.verb.is_none()
            && act.is_definite
            && verb.is_some_and(|verb| among("install load use get import", verb))
        {
            return false;
        }
        if needed.is_empty() {
            return self.is_broken_in_general_by(act);
        }
        let is_other = |name: &str| among(OTHERS, name) && !self.all.iter().any(|stem| stem == name);
        if !act.is_permission && act.names().any(is_other) {
            return false;
        }
        let names = |stem: &str| {
            act.names().any(|name| is_alike(stem, name) || among(LIBRARIES, stem) && among(LIBRARIES, name))
        };
        if !needed
            .iter()
            .all(|stem| names(stem) || deed(stem) || is_light && self.verb.as_deref() == Some(*stem))
        {
            // "Bump it", after "don't bump any packages".
            let is_bare = act.object.is_empty() && act.places.is_empty() && verb == self.verb.as_deref();
            let is_common =
                verb.is_some_and(|verb| among(CHANGE, verb) || among(SAME[0], verb) || among("run", verb));
            let is_version =
                |stem: &String| stem.trim_start_matches('v').starts_with(|c: char| c.is_ascii_digit());
            let is_bare_release = !act.object.is_empty() && act.object.iter().all(is_version);
            if (act.points || is_bare_release) && self.for_now && verb == self.verb.as_deref() {
                return true;
            }
            return is_bare
                && (self.any && act.points || self.for_now || act.points && !self.placed && !is_common);
        }
        let holds_all = act.is_one
            && self.verb.is_none()
            && needed.iter().all(|stem| act.object.iter().any(|name| is_alike(stem, name)));
        // "Use lodash's groupBy."
        let uses_first = verb == Some("use")
            && self.verb.as_deref().is_none_or(|own| own == "use")
            && act.object.first().is_some_and(|first| is_own(first));
        uses_first || head.is_none_or(is_own) || is_inside() || holds_all && act.is_permission
    }

    /// After "don't push", "no refactoring yet": nothing else has to be named.
    fn is_broken_in_general_by(&self, act: &Act) -> bool {
        if act.object.is_empty() {
            return !act.places.iter().any(|(place, _)| place == "for") || self.for_now;
        }
        let elsewhere = act.places.iter().any(|(place, _)| among("into from", place));
        let is_version =
            |stem: &str| stem.trim_start_matches(['v', '#']).starts_with(|c: char| c.is_ascii_digit());
        let is_work = act
            .object
            .iter()
            .all(|stem| among(WORK, stem) || is_version(stem) || self.verb.as_ref() == Some(stem));
        // A permission for one thing does not lift what holds for all.
        let is_named = !self.stems.is_empty() && act.object.iter().all(|stem| self.stems.contains(stem));
        is_named
            || !self.never && is_work && !elsewhere
            || self.anything
                && (self.for_now
                    || !self.verb.as_deref().is_some_and(|own| among(CHANGE, own) || among("install", own)))
    }

    /// "Just install zod", where no library was to be added.
    fn installs_library(&self, act: &Act) -> bool {
        let is_about = self.needed().iter().all(|stem| among(LIBRARIES, stem)) && !self.needed().is_empty();
        let lists = act.places.iter().any(|(place, stems)| {
            place == "to"
                && stems.iter().any(|stem| {
                    among("package.json requirements.txt cargo.toml gemfile pyproject.toml go.mod", stem)
                })
        });
        let installs =
            act.verb.as_deref().is_some_and(|verb| among("install pull", verb) || lists && verb == "add");
        is_about && installs && !act.is_definite && act.head().is_some_and(|head| !among(LIBRARIES, head))
    }
}
