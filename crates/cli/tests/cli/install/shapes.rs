//! Settings files as people, tools and editors leave them.

pub(crate) fn shapes() -> Vec<(&'static str, String)> {
    let shapes = [
        ("empty", ""),
        ("blank", "\n"),
        ("object", "{}"),
        ("object and newline", "{}\n"),
        ("object over two lines", "{\n}\n"),
        ("one line", "{\"model\": \"opus\", \"env\": {\"A\": \"1\"}}\n"),
        (
            "squeezed",
            "{\"model\":\"opus\",\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"x\"}]}]}}",
        ),
        ("one line with room", "{ \"model\": \"opus\" }"),
        (
            "two spaces",
            "{\n  \"model\": \"opus\",\n  \"permissions\": {\n    \"allow\": [\n      \"Bash(ls:*)\"\n    ],\n    \"deny\": []\n  }\n}\n",
        ),
        (
            "four spaces, no end",
            "{\n    \"env\": {\n        \"A\": \"1\"\n    },\n    \"enableAllProjectMcpServers\": false\n}",
        ),
        ("tabs", "{\n\t\"env\": {\n\t\t\"A\": \"1\"\n\t}\n}\n"),
        ("crlf", "{\r\n  \"model\": \"opus\",\r\n  \"hooks\": {\r\n    \"Stop\": []\r\n  }\r\n}\r\n"),
        ("bom", "\u{feff}{\n  \"model\": \"opus\"\n}\n"),
        ("bom and crlf, one line", "\u{feff}{ \"model\": \"opus\" }\r\n"),
        ("blank lines around", "\n\n{\n\n  \"a\": 1\n\n}\n\n\n"),
        ("no hooks yet", "{\n  \"hooks\": {}\n}\n"),
        ("hooks over two lines", "{\n  \"hooks\": {\n  }\n}\n"),
        (
            "hooks of others",
            "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\n        \"matcher\": \"Bash\",\n        \"hooks\": [\n          { \"type\": \"command\", \"command\": \"./check.sh\", \"timeout\": 5 }\n        ]\n      }\n    ],\n    \"Stop\": [{ \"hooks\": [{ \"type\": \"command\", \"command\": \"say done\" }] }],\n    \"Notification\": []\n  },\n  \"model\": \"opus\"\n}\n",
        ),
        (
            "hooks in cuddled braces",
            "{\n    \"hooks\": {\n        \"Stop\": [{\n            \"hooks\": [{\n                \"type\": \"command\",\n                \"command\": \"x\"\n            }]\n        }]\n    }\n}\n",
        ),
        (
            "a status line",
            "{\n  \"statusLine\": {\n    \"type\": \"command\",\n    \"command\": \"echo 'it'\\\\''s' \\\"$(pwd)\\\" | sed \\\"s/a/b/\\\"\",\n    \"padding\": 0,\n    \"refreshInterval\": 5\n  }\n}\n",
        ),
        (
            "a status line spelt oddly",
            "{\"statusLine\": {\"command\":\"printf \\u00e9\\/\\u0027\", \"type\": \"command\"}}",
        ),
        (
            "a name twice",
            "{\n  \"hooks\": {\"Stop\": [{\"hooks\": []}]},\n  \"hooks\": {\"PreToolUse\": []},\n  \"model\": \"a\",\n  \"model\": \"b\"\n}",
        ),
        (
            "a status line twice",
            "{\"statusLine\": {\"type\": \"command\", \"command\": \"one\"}, \"statusLine\": {\"type\": \"command\", \"command\": \"two\"}}",
        ),
        ("an event twice", "{\"hooks\": {\"Stop\": [], \"Stop\": [ {\"hooks\": []} ]}}"),
        (
            "unicode and escapes",
            "{\n  \"日本\": \"\\u65e5\\ud83d\\ude00\\\"\\\\\",\n  \"half\": \"\\ud800\",\n  \"n\": [1e400, -0, 1.50]\n}\n",
        ),
        ("commas in front", "{ \"a\": 1\n, \"b\": [ 1\n      , 2 ]\n}\n"),
        (
            "mcp and plugins",
            "{\n  \"enabledPlugins\": {\n    \"x@y\": true\n  },\n  \"mcpServers\": {\"m\": {\"command\": \"tidegate\", \"args\": [\"hook\"]}},\n  \"cleanupPeriodDays\": 30\n}\n",
        ),
    ];
    let long: Vec<String> = (0..5000).map(|n| format!("    \"Bash(tool-{n}:*)\"")).collect();
    let long = format!("{{\n  \"permissions\": {{\n   \"allow\": [\n{}\n   ]\n  }}\n}}\n", long.join(",\n"));
    let shapes = shapes.into_iter().map(|(name, text)| (name, text.to_owned()));
    shapes.chain([("five thousand lines", long)]).collect()
}

/// What was empty, or spelt oddly, comes back as it was only with the record of the install.
pub(crate) fn needs_record(name: &str) -> bool {
    let empty = ["empty", "blank", "hooks over two lines", "no hooks yet", "crlf", "a name twice"];
    empty.contains(&name) || name == "a status line spelt oddly" || name.starts_with("object")
}
