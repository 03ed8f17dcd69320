//! Whether a last message asks the person anything, offers included: work that would continue by itself has to wait.
//!
//! A wrong yes costs the person one more prompt, a wrong no runs over their decision: so this favours yes, unlike
//! [`needs_answer`](super::needs_answer). The phrases were chosen by the training part of `corpus/question/asks.*`.

use super::phrases::{Cue, cue};
use super::sentences::{Language, Sentence, read_sentences};
use super::{last_chars, needs_answer};
use crate::text::wrapped::join_lines;

/// Closing sentences in which a request counts.
const CLOSING: usize = 3;

pub fn asks_person(message: &str) -> bool {
    let end = last_chars(message);
    let joined = || join_lines(end).is_some_and(|joined| requests_word(&joined));
    ends_with_question(end) || needs_answer(end) || requests_word(end) || joined()
}

/// With or without a list of choices after the question.
fn ends_with_question(message: &str) -> bool {
    let mut lines = message.lines().rev().filter(|line| !line.trim().is_empty());
    if lines.clone().next().is_some_and(is_question) {
        return true;
    }
    // A heading is not a question.
    let is_heading = |line: &str| line.starts_with(['#', '*', '_']);
    let before = lines.find(|line| !is_choice(line));
    before.is_some_and(|line| is_question(line) && !is_heading(line))
}

fn is_question(line: &str) -> bool {
    let closing = |c: char| {
        c.is_whitespace() || matches!(c, '*' | '_' | '`' | '"' | '\'' | ')' | '）' | '」' | '』' | '”')
    };
    let line = line.trim_end_matches(closing);
    let said = line.strip_suffix('。').unwrap_or(line);
    line.ends_with(['?', '？'])
        || ["ますか", "ませんか", "ですか", "しょうか"].iter().any(|end| said.ends_with(end))
}

/// A list item or its continuation.
fn is_choice(line: &str) -> bool {
    if line.starts_with(char::is_whitespace) || line.starts_with(['-', '•', '・']) || line.starts_with("* ")
    {
        return true;
    }
    let number = line.trim_start_matches('(').split_once(['.', ')', '）', ':']).map(|(number, _)| number);
    let plain = |number: &str| number.len() < 3 && number.chars().all(|c| c.is_ascii_alphanumeric());
    number.is_some_and(|number| !number.is_empty() && plain(number))
}

/// Asks for a word of the person without a question mark.
fn requests_word(message: &str) -> bool {
    let (language, sentences) = read_sentences(&without_quotations(message));
    let (plain, requests, settled) = match language {
        Language::English => (&ENGLISH_PLAIN, &ENGLISH, &ENGLISH_SETTLED),
        Language::Japanese => (&JAPANESE_PLAIN, &JAPANESE, &JAPANESE_SETTLED),
    };
    let closing = &sentences[sentences.len().saturating_sub(CLOSING)..];
    let has = |cue: &Cue, sentence: &Sentence| cue.find_first(&sentence.text).is_some();
    let asks =
        |sentence: &Sentence| has(plain, sentence) || has(requests, sentence) && !has(settled, sentence);
    // In the last sentence, a word for the person and one for a decision are enough.
    let leaves_decision = |last: &Sentence| {
        language == Language::English && has(&PERSON, last) && has(&DECIDES, last) && !has(settled, last)
    };
    closing.iter().any(asks) || closing.last().is_some_and(leaves_decision)
}

/// What a dialog or a person says is not a request of the agent.
fn without_quotations(message: &str) -> String {
    let mut rest = message;
    let mut own = String::with_capacity(message.len());
    while let Some(at) = rest.find(['"', '“', '「', '『']) {
        let quote = rest[at..].chars().next().unwrap_or('"');
        let closing = match quote {
            '“' => '”',
            '「' => '」',
            '『' => '』',
            other => other,
        };
        own.push_str(&rest[..at]);
        let inner = &rest[at + quote.len_utf8()..];
        rest = match inner.find([closing, '\n']).filter(|end| inner[*end..].starts_with(closing)) {
            Some(end) => &inner[end + closing.len_utf8()..],
            None => inner,
        };
    }
    own.push_str(rest);
    own
}

static PERSON: Cue =
    cue(1, " you | your | yours | let me know the | let me know what | tell me | the team | the person ");

static DECIDES: Cue = cue(
    1,
    " decide | decision | choose | pick | confirm | approve | accept | reject | agree | answer | reply | say | permission | nod | sign-off \
     | verdict | opinion | a read | review | one word | your turn | a call for | outcome | before it goes | how strict | how many | how much \
     | which of | tell me ",
);

/// Requests whatever else the sentence says.
static ENGLISH_PLAIN: Cue = cue(
    1,
    "^ pick one | ^ choose one | from you $| until you respond | until i hear | paused for | over to you | reply with | answer with | respond with | you decide | you choose | decision is yours | choice is yours | up to you to \
     | green light | blocked on you | check with you | say so | tell me your | let me have your | kindly confirm | i ask first | i have to ask \
     | i must ask | a yes from you | the go-ahead from you ",
);

static JAPANESE_PLAIN: Cue = cue(
    1,
    "^ご確認ください|その旨を|と返して|と答えて|と返信|で答えて|一言お願い|一言ください|番号で|どちらかを選|結論をください|ご決定|が決めるべき|が決めることでは|もらうまで|いただくまで\
     |もらえたら|もらったら|が出たら|が出れば|合図があ|相談です|質問は|質問です|聞かせて|てほしいです|聞きたいです|知りたいです|もらいたい|いただきたい|もらう必要|いただく必要",
);

/// Only whether one of the phrases is there counts.
static ENGLISH: Cue = cue(
    1,
    " waiting for your | waiting for you | waiting on your | waiting on you | awaiting your | awaiting a | wait for your | wait for you \
     | i'll wait | i will wait | standing by | on hold | until you say | until you confirm | until you decide | until you approve | until you tell | until you reply \
     | until you answer | until you have | until you've | your confirmation | your approval | your go-ahead | your decision \
     | your sign-off | your input | your answer | your reply | your choice | your call | your permission | your ok | your okay | need your \
     | need you to | needs you to | needs your | please confirm | please approve | please decide | please choose | please pick \
     | please advise | please tell | please say | please answer | please reply | please review | please clarify | please provide \
     | please let me know | let me know which | let me know how | let me know what | let me know whether | let me know when \
     | let me know where | let me know if i should | let me know if i can | let me know if that is | let me know if it is \
     | tell me which | tell me whether | tell me how | tell me what | tell me when | tell me if i | say go | say the word \
     | confirm whether | confirm that i | confirm before | confirm and | once you confirm | once you approve | once you say | once you've \
     | once you decide | after you confirm | when you approve | when you confirm | if you approve | if you confirm | i need to know \
     | i need a decision | needs a decision | decide whether | decide which | you to decide | please pick one | choose between \
     | give me the | give me a | send me the | i'd like to ask | want to know whether | want to ask | not proceed without | won't proceed \
     | awaiting | pending your | subject to your | your thoughts | your opinion | your view | your verdict | your pick | your feedback | your word \
     | your preference | your guidance | your instructions | guidance would | feedback on | is needed before | needed before the | before you have \
     | before you've | unless you | hear from you | hear back | suggest another | suggest a | name another | my question | the question is \
     | isn't clear to me | not clear to me | unclear to me | unclear whether | human decision | person to decide | person has to \
     | could you | would you please | can you please | please specify | please have a look | please take a look | please look | please pick \
     | please check whether | please add | please set | please grant | please send | please share | please give | please state | please name \
     | i'm stopping here | i am stopping here | i stopped here | i paused | as soon as you | if you agree | if you are fine | if you're fine \
     | if you are ok | if you're ok | if that works for you | when you are ready | when you're ready | give the ok | give the go | want to check \
     | you have to decide | you have to choose | you have to confirm | you have to approve | you need to decide | you need to choose \
     | you need to confirm | you need to approve | you need to tell | you must decide | you must choose | you must confirm | you must approve \
     | you to settle | you to answer | only you can answer | without knowing | for you to | a product matter for you | depends on you | is up to you | waiting for a | waiting for instructions | waiting for approval \
     | waiting on the | waiting on a | please decide | can't settle | cannot settle | can't decide | i would like to know | i'd like to know ",
);

/// The word was given, or is not needed.
static ENGLISH_SETTLED: Cue = cue(
    1,
    " no need | no action | if you want | if you'd like | if you like | at your convenience | have time | based on your | per your \
     | following your | with your approval | with your permission | after your | got your | received your | have your | as you decided \
     | thanks for your | thanks for the | you decided | you chose | you told | as you said | as you asked | no input | nothing is blocked \
     | not needed | when you open | next time you | with your confirmation | no further | no decision | i waited | was waiting | doesn't need your | does not need your | without your | no longer needs ",
);

static JAPANESE: Cue = cue(
    1,
    "教えてください|教えて下さい|教えていただ|お知らせください|知らせてください|ご指示ください|指示をください|ご指示を|指示をお願い|ご判断ください|ご判断を\
     |判断をお願い|決めてください|お決めください|決定をお願い|選んでください|お選びください|選択してください|確認をお願い|確認してから続|ご承認ください\
     |承認してください|承認をお願い|承認をお待ち|承認待ち|承認を待|確認待ち|ご確認を待|確認をお待ち|回答を待|回答をお待ち|返答を|返事を待|お返事\
     |指示を待|指示をお待ち|判断を待|判断待ち|指示待ち|回答待ち|返事待ち|許可をお願い|許可をください|許可を待|お待ちして|いただければ|いただいてから|いただき次第\
     |よいかどうか|よろしいか|ご回答|お答えください|お聞かせください|ご意見をください|伺いたい|お伺いし|確認させてください|相談させてください|質問があり\
     |選んで|答えてください|返してください|言ってください|送ってください|貼ってください|提案してください|却下してください|判断してください|よいか確認|どちらにするか|お任せ\
     |ほしい|てもらえ|いただければ進|いただければ続|いただけますか|いただけません|をお願いします|をお願いいたします|待っています|待ちです|待ちで、|ここで待|ここで止め\
     |を求めます|の判断になり|が要ります|の選択は|助かります|だけでは決め|では決められ|もらえれば|結果を待ち|返事を待ち|を待って|ご連絡ください|決めてもら|決めていただ|知らせてもら|連絡をもら|返事をもら|了解をもら|許可をもら|回答をもら\
     |決めかね|ご指定ください|指定してください|返信してください|ご返信|ご返答|ご一報|許可が必要|承認が必要|ご判断が|ご指示が",
);

static JAPANESE_SETTLED: Cue = cue(
    1,
    "必要なら|必要であれば|必要でしたら|よければ|よろしければ|お手すき|お時間|不要|問題があれば|何かあれば|あれば教え|あればお知らせ|なければ|いただいたとおり\
     |いただいた通り|いただきました|済みです|済みの|気づいた点|ご希望|ありましたら|場合は|点があれば|あればいつでも|声をかけて|ご覧ください|ご自由|よろしくお願い|要りません|決めていただいた|ありがとうございました\
     |の完了を待|の起動を待|の終了を待",
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_without_a_question_mark() {
        for message in [
            "どちらの方式がよいか教えてください。",
            "Waiting for your confirmation before shipping.",
            "The audit is over. Please confirm, then I ship it.",
            "監査は終わりました。出荷の承認をお願いします。",
            "Which schema shall I use?",
            "Ship it?",
            "Pick one: A or B.",
            "I need the API key from you.",
            "I'll hold until you respond.",
            "Paused for review.",
            "監査が終わりました。ご確認ください。",
            "The audit is over. I am waiting for\nyour confirmation.",
            "新しいスキーマを使いますか。",
            "Which one?\n\n1. The new one\n   It is faster.\n2. The old one",
        ] {
            assert!(asks_person(message), "{message}");
        }
    }

    #[test]
    fn reports() {
        for message in [
            "",
            "All of it is done.",
            "Step 1 of 5 is done, 2 to 5 remain.",
            "CRITICAL: this must not be shipped.",
            "I merged it after your approval.",
            "Why? Because it is faster.",
            "**What changed?**\n- two files",
            "Which one? I took the new one.\n- two files",
            "速いかどうか。",
            "いただいたとおりに直し、テストも通りました。",
        ] {
            assert!(!asks_person(message), "{message}");
        }
    }
}
