//! Manifests as people and tools write them.

use super::*;
use proptest::prelude::*;

fn read(text: &str) -> Result<Manifest, ManifestDamage> {
    Manifest::parse(text.as_bytes(), |name| (name == BUILT_IN).then(Workflow::default))
}

#[test]
fn the_last_phase_ends_the_workflow() {
    let of = |text: &str| read(text).unwrap().complete;
    assert!(of("status: in-progress\ncurrent_phase: 16\nphases: {16_completion: {status: complete}}\n"));
    assert!(of("status: complete\ncurrent_phase: 3\n"));
    assert!(!of("current_phase: 16\nphases: {16_completion: {status: in_progress}}\n"));
    assert!(!of("current_phase: 3\nphases: {16_completion: {status: skipped}}\n"), "ahead of the work");
}

#[test]
fn its_status_or_a_later_phase_shows_the_end_of_one() {
    let is_past = |third: &str, fourth: &str| {
        let text = format!("current_phase: 3\nphases: {{3: {{status: {third}}}, 4: {{status: {fourth}}}}}\n");
        read(&text).unwrap().is_past(3)
    };
    assert!(is_past("complete", "in_progress") && is_past("skipped", "complete"));
    assert!(is_past("in_progress", "in_progress"), "it may be left so for good");
    assert!(is_past("complete", "pending") && is_past("done", "skipped"));
    for (third, fourth) in [("in_progress", "pending"), ("blocked", "skipped"), ("skipped", "pending")] {
        assert!(!is_past(third, fourth), "{third}, {fourth}");
    }
    assert!(!read("current_phase: 16\nphases: {16: {status: complete}}\n").unwrap().is_past(16));
}

/// As written by the first phase of another tool.
const ANCESTOR: &str = "\
feature_name: user-dashboard
feature_slug: \"2026-01-20-user-dashboard\"
created_at: \"2026-01-20T10:00:00Z\"
created_by: orchestrator
status: in-progress
current_phase: 4
current_phase_name: skill_discovery
work_type: MEDIUM
phases:
  1_setup:
    status: complete
    completed_at: \"2026-01-20T10:05:00Z\"
  2_triage: { status: complete }
  3_discovery:
    status: complete   # three agents
    started_at: \"2026-01-20T10:10:00Z\"
    completed_at: \"2026-01-20T11:00:00Z\"
    findings: |
      Components live in src/sections/.

      # not a comment
      Hooks are shared.
    files:
      - src/sections/assets/List.tsx
      - path: src/hooks/useAssets.ts
        lines: 120
    artifacts: [discovery.md, {path: notes/patterns.md, type: notes}]
    summary: |
      Phase 3 (Discovery): COMPLETE
      - Key decisions: keep the hooks
      - Full details: .claude/.output/features/x/discovery.md
  4_skill_discovery: {status: in_progress}
  5_complexity: pending
worktree:
  path: .worktrees/x
metrics: {tokens: {context_percentage: 61}}
";

#[test]
fn the_ancestors_form_is_read() {
    let manifest = read(ANCESTOR).unwrap();
    assert_eq!(manifest.feature.as_deref(), Some("user-dashboard"));
    assert_eq!((manifest.current, manifest.complete, manifest.sections.len()), (Some(4), false, 5));
    let section = manifest.section(3).unwrap();
    assert_eq!((section.key.as_str(), section.status.as_deref()), ("3_discovery", Some("complete")));
    assert_eq!(section.artifacts, ["discovery.md", "notes/patterns.md"]);
    assert_eq!(section.paths, ["src/sections/assets/List.tsx", "src/hooks/useAssets.ts"]);
    assert_eq!(section.began, Millis::from_iso("2026-01-20T10:10:00Z"));
    assert!(section.body > 10 && section.summary.as_deref().unwrap().contains("keep the hooks"));
    assert_eq!(section.lines, 18);
    assert_eq!(manifest.section(2).unwrap().lines, 1);
    assert_eq!(manifest.section(5).unwrap().status.as_deref(), Some("pending"));
}

#[test]
fn current_phase_and_keys_come_in_many_forms() {
    for current in ["3", "\"3\"", "3_discovery", "discovery", "Codebase Discovery", "phase_3"] {
        for key in ["3", "\"3\"", "3_discovery", "discovery", "phase_3"] {
            let text = format!("current_phase: {current}\nphases:\n  {key}:\n    status: done\n");
            let manifest = read(&text).unwrap();
            assert_eq!((manifest.current, manifest.section(3).is_some()), (Some(3), true), "{text}");
        }
    }
    assert_eq!(read("phases:\n").unwrap().current, None);
}

#[test]
fn what_cannot_be_true_is_damage() {
    for (text, damage) in [
        ("current_phase: 17\n", ManifestDamage::Member("current_phase")),
        ("current_phase: [1]\n", ManifestDamage::Member("current_phase")),
        ("phases: [a]\n", ManifestDamage::Member("phases")),
        (
            "phases: {3: {}, discovery: {}}\n",
            ManifestDamage::Unreadable(Unreadable::Twice("discovery".into())),
        ),
        ("workflow: release\n", ManifestDamage::UnknownWorkflow("release".into())),
        ("a: 1\n---\nb: 1\n", ManifestDamage::Unreadable(Unreadable::Documents)),
    ] {
        assert_eq!(read(text), Err(damage), "{text}");
    }
    let binary = Manifest::parse(b"\xff\xfe\x00", |_| None);
    assert_eq!(binary, Err(ManifestDamage::Unreadable(Unreadable::NotText)));
}

#[test]
fn which_manifests_are_ours() {
    for path in [".claude/.output/features/x/MANIFEST.yaml", "/p/.claude/.output/research/x/MANIFEST.yaml"] {
        assert!(is_manifest(path), "{path}");
    }
    for path in ["MANIFEST.yaml", "/p/charts/MANIFEST.yaml", ".claude/.output/features/x/manifest.md"] {
        assert!(!is_manifest(path), "{path}");
    }
}

#[test]
fn a_new_one_reads_back() {
    let text = new_manifest("Add: \"it\"", "feature", &Workflow::default(), Millis(1_768_900_000_000));
    let manifest = read(&text).unwrap();
    assert_eq!((manifest.feature.as_deref(), manifest.current), (Some("Add: \"it\""), Some(1)));
    assert_eq!(manifest.section(1).unwrap().began, manifest.created);
}

#[test]
fn what_is_noted_leaves_the_rest_as_it_was() {
    let at = Millis(1_768_919_535_000);
    let passed = note_passed(ANCESTOR, 1, at, 14_832, 187).unwrap();
    assert_eq!(
        passed.strip_prefix(ANCESTOR),
        Some(
            "gates:\n  1:\n    status: passed\n    at: \"2026-01-20T14:32:15Z\"\n    before_tokens: 14832\n    \
             after_tokens: 187\n"
        )
    );
    let gate = read(&passed).unwrap().passed(1).cloned().unwrap();
    assert_eq!((gate.at, gate.before, gate.after), (Some(at), Some(14_832), Some(187)));
    let skipped = note_skipped(ANCESTOR, "3_discovery", "user override", at).unwrap();
    let added: Vec<&str> = skipped.lines().filter(|line| !ANCESTOR.contains(line)).collect();
    assert_eq!(
        added,
        [
            "    compaction_skipped: true",
            "    skip_reason: \"user override\"",
            "    skip_timestamp: \"2026-01-20T14:32:15Z\""
        ]
    );
    assert!(read(&skipped).unwrap().section(3).unwrap().skipped);
    // A section that is a single word has no place for it.
    assert!(note_skipped(ANCESTOR, "5_complexity", "x", at).is_err());
}

#[test]
fn moving_on_touches_two_sections() {
    let now = Millis(1_768_919_535_000);
    let text = "# x\ncurrent_phase: 3   # now\nphases:\n  3_discovery: {status: in_progress}\nend: 1\n";
    let moved = begin_phase(text, Some("3_discovery"), 4, "4_skill_discovery", now).unwrap();
    assert_eq!(
        moved,
        "# x\ncurrent_phase: 4   # now\nphases:\n  3_discovery: {status: complete, completed_at: \"2026-01-20T14:32:15Z\"}\n  \
         4_skill_discovery:\n    status: in_progress\n    started_at: \"2026-01-20T14:32:15Z\"\nend: 1\n"
    );
    let note =
        PhaseNote { summary: Some("one\ntwo"), artifacts: vec!["d.md".into()], ..PhaseNote::default() };
    let noted = super::note_phase(&moved, "3_discovery", &note, now).unwrap();
    let section = read(&noted).unwrap().section(3).cloned().unwrap();
    assert_eq!(
        (section.summary.as_deref(), section.artifacts.as_slice()),
        (Some("one\ntwo\n"), &["d.md".to_owned()][..])
    );
}

proptest! {
    #[test]
    fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = Manifest::parse(&bytes, |_| Some(Workflow::default()));
    }
}
