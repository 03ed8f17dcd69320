//! The listing of skills that the client gives the model has a budget: 1% of the window, in characters. Skills beyond it
//! lose their descriptions, whoever they belong to.

use tidegate_e2e::client::{Launch, SONNET_4_6};
use tidegate_e2e::home::Home;
use tidegate_e2e::model::{Model, Reply, Script};
use tidegate_e2e::tidegate::Tidegate;

/// As long as the descriptions of real projects are.
fn describe(number: usize) -> String {
    let text = format!(
        "Team skill {number}: how this team prepares, reviews and records one kind of change. Use when the person asks for it, \
         before the first file is edited, when a review names it, and whenever a pull request touches the folders that its \
         rules are about; not for documents."
    );
    format!("{text} Ends with the word whole-{number}.")
}

fn add_team_skills(home: &Home) {
    for number in 0..10 {
        let name = format!("team-skill-{number}");
        let text =
            format!("---\nname: {name}\ndescription: {}\n---\n\nDo it as a team.\n", describe(number));
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
    let texts = request.texts();
    let listing = texts.iter().find(|text| text.contains("team-skill-0")).expect("a listing");
    eprintln!("{} {listing}", listing.len());
    for number in 0..10 {
        assert!(request.mentions(&describe(number)), "{listing}");
    }
    model.finish();
}
