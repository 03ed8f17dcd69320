//! The first session of a newcomer, in a terminal of 80 columns.

use std::fs;

use tidegate_e2e::client::{Launch, SONNET_4_6};
use tidegate_e2e::home::Home;
use tidegate_e2e::model::{Model, Reply, Request, Script};
use tidegate_e2e::terminal::Terminal;
use tidegate_e2e::tidegate::{Tidegate, binary};

fn look(terminal: &Terminal<'_>, name: &str) {
    std::thread::sleep(std::time::Duration::from_secs(3));
    fs::create_dir_all("/tmp/screens").unwrap();
    fs::write(format!("/tmp/screens/{name}.txt"), terminal.folded_screen()).unwrap();
}

fn code(request: &Request) -> String {
    let text = request.last_tool_result().text;
    let (_, after) = text.split_once("Code ").unwrap_or_else(|| panic!("a code: {text}"));
    after[..6].to_owned()
}

fn long_output() -> Reply {
    Reply::bash("cat server.log")
}

#[test]
fn the_first_session() {
    let home = Home::of_newcomer();
    fs::copy(binary(), home.programs().join("tidegate")).expect("a copy of the program");
    home.add_program(
        "npm",
        "! grep -q broken src/*.js && echo '# tests 3' && echo '# pass 3' && echo '# fail 0'",
    );
    home.write("package.json", "{ \"name\": \"app\", \"scripts\": { \"test\": \"node --test\" } }\n");
    home.write("src/server.js", "export const server = 1;\n");
    home.write("server.log", &"a line of the log of the server\n".repeat(900));
    home.write(".gitignore", "*.log\n");
    home.git(&["add", "."]);
    home.git(&["commit", "--quiet", "--message", "start"]);
    let login = home.in_project("src/login.js");
    let model = Model::start(Script::new()).paced(&home);
    let launch = Launch::asking(&home, &model).on(SONNET_4_6);
    let terminal = Terminal::shell(&launch);
    terminal.enter("tidegate init");
    terminal.wait_for("Next:");
    look(&terminal, "01-init");
    terminal.enter("clear; git status --short; claude --permission-mode acceptEdits --allowedTools 'Bash(npm:*)' 'Bash(cat:*)'");
    terminal.wait_for("❯");
    look(&terminal, "02-trust");
    terminal.choose("Yes, I trust this folder");
    terminal.wait_for("accept edits on");
    look(&terminal, "03-start");

    model.then(Reply::write(&login, "export const login = 1;\n").used(20_000));
    model.then(Reply::text("The login page is done.").used(21_000));
    model.then(Reply::bash("npm test").used(22_000));
    model.then(Reply::text("All 3 tests pass.").used(23_000));
    terminal.enter("add a login page");
    terminal.wait_for("All 3 tests pass.");
    look(&terminal, "04-done");

    model.then(long_output().used(60_000));
    model.then(long_output().used(122_000));
    model.then(Reply::bash("tidegate progress add \"login page added\" --decision \"a signed cookie, valid for 30 days\" --next \"logout\"").used(123_000));
    model.then(Reply::text("The log shows nothing unusual.").used(124_000));
    terminal.enter("look through the log for failed logins");

    look(&terminal, "05-permission");
    if terminal.screen().contains("Do you want to proceed?") {
        terminal.dismiss("Enter", "Do you want to proceed?");
    }
    terminal.wait_for("nothing unusual");
    look(&terminal, "06-early");

    let transcripts = home.client_config().join("projects");
    let waits = format!(
        "until grep -rqs '\"subtype\":\"compact_boundary\"' {}; do sleep 0.02; done",
        transcripts.display()
    );
    home.add_program("npm", &format!("if [ \"$1\" = start ]; then {waits}; else echo '# tests 3' && echo '# pass 3' && echo '# fail 0'; fi"));
    model.then(long_output().used(152_000));
    model.then(long_output().used(153_000));
    model.then(Reply::bash("npm test").used(168_000));
    model.then(Reply::bash("npm start").used(30_000));
    model.then(Reply::bash("npm test").used(31_000));
    model.then(Reply::text("The logout works, too.").used(32_000));
    terminal.enter("now the logout");
    terminal.wait_for("The logout works, too.");
    look(&terminal, "07-compaction");

    let listed: serde_json::Value =
        serde_json::from_str(&Tidegate::of(&home).run(&["compound", "list", "--json"])).unwrap();
    let id = listed["entries"][0]["id"].as_str().unwrap().to_owned();
    let plan = format!(
        r#"tidegate compound promote --plan - <<< '[{{"entry": "{id}", "to": "design", "title": "Sessions are a signed cookie", "learning": "sessions are a signed cookie, valid for 30 days", "context": "login page", "implication": "no table for sessions"}}]'"#
    );
    model.then(Reply::bash("tidegate compound list --json").used(33_000));
    model.then(Reply::bash(plan).used(34_000));
    model.then_with(|request| super::people::ask(request).used(34_000));
    model.then_with(|request| {
        let told: Vec<String> = request.tool_results().into_iter().map(|r| r.text).collect();
        let run = told
            .iter()
            .flat_map(|t| t.lines())
            .find_map(|line| line.trim().strip_prefix("Then run: "))
            .unwrap_or_else(|| panic!("{told:?}"));
        Reply::bash(run).used(35_000)
    });
    model.then(Reply::bash("tidegate compound done").used(35_000));
    model.then(Reply::text("Saved as a learning.").used(35_000));
    terminal.enter("/compound");
    terminal.wait_for("Nothing is changed.");
    look(&terminal, "08-compound");
    terminal.dismiss("Enter", "Nothing is changed.");
    terminal.wait_for("Saved as a learning.");
    look(&terminal, "09-compound-done");

    model.then(Reply::bash("tidegate off verify-stop --for 1h").used(36_000));
    model.then(Reply::text("It needs your approval first.").used(36_500));
    terminal.enter("the tests are slow today, skip the check for an hour");
    look(&terminal, "10-off-permission");
    if terminal.screen().contains("Do you want to proceed?") {
        terminal.dismiss("Enter", "Do you want to proceed?");
    }
    terminal.wait_for("needs your approval");
    look(&terminal, "11-off");
    let requests = model.main_requests();
    fs::write("/tmp/screens/11-tool-result.txt", requests.last().unwrap().last_tool_result().text).unwrap();
    let code2 = code(requests.last().unwrap());
    model.then(Reply::bash("tidegate off verify-stop --for 1h --approved").used(36_000));
    model.then(Reply::text("The check is off for an hour.").used(36_500));
    terminal.enter(&format!("yes, approve {code2} please"));
    look(&terminal, "12-off-permission");
    if terminal.screen().contains("Do you want to proceed?") {
        terminal.dismiss("Enter", "Do you want to proceed?");
    }
    terminal.wait_for("is off for an hour");
    look(&terminal, "13-off-done");
    terminal.enter("/exit");
    terminal.wait_for("$ ");
    look(&terminal, "14-exit");
    terminal.enter("clear; tidegate uninstall");
    look(&terminal, "15-uninstall");
    drop(terminal);
    for (n, r) in model.requests().iter().enumerate() {
        fs::write(
            format!("/tmp/screens/request-{n:02}-{:?}.json", r.route),
            serde_json::to_string_pretty(&r.body).unwrap(),
        )
        .unwrap();
    }
    model.finish();
}

