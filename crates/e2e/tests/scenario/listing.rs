//! The listing of skills that the client gives the model has a budget: 1% of the window, in characters. Skills beyond it
//! lose their descriptions, whoever they belong to.

use tidegate_e2e::client::{Launch, SONNET_4_6};
use tidegate_e2e::home::Home;
use tidegate_e2e::model::{Model, Reply, Script};
use tidegate_e2e::tidegate::Tidegate;

/// Two sentences, as most teams write them.
fn describe(number: usize) -> String {
    format!(
        "Team skill {number}: how this team prepares, reviews and records one kind of change. Use before the first file \
         of such a change is edited, and in its review."
    )
}

fn add_team_skills(home: &Home) {
    for number in 0..10 {
        let name = format!("team-skill-{number}");
        let text = format!("---\nname: {name}\ndescription: {}\n---\n\nDo it as a team.\n", describe(number));
        home.write(format!(".claude/skills/{name}/SKILL.md"), &text);
    }
}

#[test]
fn with_ours_installed_the_skills_of_a_team_keep_their_descriptions() {
    let home = Home::new();
    add_team_skills(&home);
    let _tidegate = Tidegate::init(&home);
    let model = Model::start(Script::new().main(Reply::text("done")));
    Launch::new(&home, &model).on(SONNET_4_6).ask("begin");
    let request = model.last_main();
    for number in 0..10 {
        assert!(request.mentions(&describe(number)), "{:?}", request.texts());
    }
    for skill in ["getting-started", "compound", "verification-before-completion"] {
        assert!(request.mentions(&format!("\n- {skill}: ")), "{:?}", request.texts());
    }
    assert!(!request.mentions("\n- tidegate-"), "commands are for the person");
    model.finish();
}
