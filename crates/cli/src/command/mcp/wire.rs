//! Lines and JSON-RPC: input lines become messages of the SDK, its answers become lines.
//!
//! The SDK's own transport skips a broken line in silence, does not read a last line without an end, and keeps running
//! when nobody reads its answers. Here the sender learns of a broken line, and a closed output ends the server.

use std::collections::VecDeque;
use std::io::{self, BufRead, Read, Write};

use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorCode, ErrorData, JsonRpcMessage,
    ProtocolVersion, RequestId, ServerJsonRpcMessage, ServerResult,
};
use rmcp::transport::Transport;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::LAST_CALLS;

/// Far above any real message. A longer one is skipped without being kept.
const LONGEST_LINE: u64 = 1024 * 1024;

/// Lines that wait while earlier ones are handled.
const WAITING_LINES: usize = 16;

/// The only revision with batches.
const WITH_BATCHES: ProtocolVersion = ProtocolVersion::V_2025_03_26;

enum InputLine {
    Whole(Vec<u8>),
    TooLong,
}

/// Both directions.
pub(super) struct Wire {
    lines: mpsc::Receiver<InputLine>,
    /// Messages of a batch after its first.
    rest: VecDeque<ClientJsonRpcMessage>,
    answers: Answers,
    /// Requests without an answer yet.
    open: Vec<RequestId>,
    /// When the input ended, requests were open: they are waited for until then.
    ends: Option<Instant>,
    /// An answer could not be written.
    nobody_reads: bool,
}

impl Wire {
    /// A thread reads: waiting for a line is no work for the runtime, and needs none of its drivers.
    pub(super) fn start() -> Wire {
        let (to, lines) = mpsc::channel(WAITING_LINES);
        std::thread::spawn(move || {
            let mut input = io::stdin().lock();
            while let Ok(Some(line)) = next_line(&mut input) {
                if to.blocking_send(line).is_err() {
                    break;
                }
            }
        });
        Wire {
            lines,
            rest: VecDeque::new(),
            answers: Answers::default(),
            open: Vec::new(),
            ends: None,
            nobody_reads: false,
        }
    }

    /// Returns the first message of a line; the others wait. Errors are answered at once.
    fn take(&mut self, line: &InputLine) -> io::Result<Option<ClientJsonRpcMessage>> {
        let answers = &mut self.answers;
        let parsed = match line {
            InputLine::TooLong => {
                let why = format!("a message is at most {LONGEST_LINE} bytes long");
                Err(make_refusal(ErrorCode::INVALID_REQUEST, why))
            }
            InputLine::Whole(bytes) => serde_json::from_slice(bytes)
                .map_err(|error| make_refusal(ErrorCode::PARSE_ERROR, format!("broken JSON: {error}"))),
        };
        let (messages, mut batch) = match parsed {
            Err(refusal) => return Answers::print(&refusal_answer(&Value::Null, &refusal)).map(|()| None),
            Ok(Value::Array(batch)) if answers.batches && !batch.is_empty() => {
                (batch, Some(Batch::default()))
            }
            Ok(Value::Array(_)) => {
                let why = make_refusal(ErrorCode::INVALID_REQUEST, "batches are not supported");
                return Answers::print(&refusal_answer(&Value::Null, &why)).map(|()| None);
            }
            Ok(message) => (vec![message], None),
        };
        for message in messages {
            match (read_message(message), &mut batch) {
                (Taken::Message(message), batch) => {
                    if let (Some(batch), JsonRpcMessage::Request(request)) = (&mut *batch, message.as_ref()) {
                        batch.awaited.push(request.id.clone());
                    }
                    if let Some(id) = cancelled_request(&message) {
                        answers.batched.iter_mut().chain(batch).for_each(|batch| batch.cancel(&id));
                        answers.finish_batches()?;
                    }
                    self.rest.push_back(*message);
                }
                (Taken::Refused(answer), Some(batch)) => batch.answers.push(answer),
                (Taken::Refused(answer), None) => Answers::print(&answer)?,
                (Taken::Nothing, _) => {}
            }
        }
        if let Some(batch) = batch {
            answers.batched.push(batch);
            answers.finish_batches()?;
        }
        Ok(self.rest.pop_front())
    }

    fn noted(&mut self, message: ClientJsonRpcMessage) -> ClientJsonRpcMessage {
        if let JsonRpcMessage::Request(request) = &message {
            self.open.push(request.id.clone());
        } else if let Some(id) = cancelled_request(&message) {
            self.open.retain(|open| *open != id);
        }
        message
    }
}

impl Transport<RoleServer> for Wire {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let answered = answered_request(&message);
        self.open.retain(|open| Some(open) != answered);
        let written = self.answers.give(&message);
        self.nobody_reads |= written.is_err();
        std::future::ready(written)
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if let Some(message) = self.rest.pop_front() {
                return Some(self.noted(message));
            }
            if self.nobody_reads {
                return None;
            }
            let Some(line) = self.lines.recv().await else {
                // The end of the transport drops answers that are late. This is asked again after each answer.
                if !self.open.is_empty() {
                    let ends = *self.ends.get_or_insert_with(|| Instant::now() + LAST_CALLS);
                    sleep_until(ends).await;
                }
                return None;
            };
            if let Some(message) = self.take(&line).ok()? {
                return Some(self.noted(message));
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Skips empty lines; `None` at the end of the input.
fn next_line(input: &mut impl BufRead) -> io::Result<Option<InputLine>> {
    loop {
        let mut bytes = Vec::new();
        if input.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut bytes)? == 0 {
            return Ok(None);
        }
        if bytes.len() as u64 == LONGEST_LINE && bytes.last() != Some(&b'\n') {
            input.skip_until(b'\n')?;
            return Ok(Some(InputLine::TooLong));
        }
        if !bytes.trim_ascii().is_empty() {
            return Ok(Some(InputLine::Whole(bytes)));
        }
    }
}

enum Taken {
    Message(Box<ClientJsonRpcMessage>),
    Refused(Value),
    /// An answer to a request that was never sent.
    Nothing,
}

fn read_message(message: Value) -> Taken {
    let Value::Object(mut message) = message else {
        return Taken::Refused(refusal_answer(
            &Value::Null,
            &make_refusal(ErrorCode::INVALID_REQUEST, "a message is an object"),
        ));
    };
    let method = message.remove("method");
    if method.is_none() && (message.contains_key("result") || message.contains_key("error")) {
        return Taken::Nothing;
    }
    let id = message.get("id");
    let usable = id.and_then(|id| serde_json::from_value::<RequestId>(id.clone()).ok());
    let wrong = if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        Some("`jsonrpc` is not \"2.0\"")
    } else if !method.as_ref().is_some_and(Value::is_string) {
        Some("`method` is missing or not a string")
    } else if id.is_some() != usable.is_some() {
        Some("`id` is neither a string nor an integer")
    } else {
        None
    };
    let answered = usable.as_ref().and(id).cloned().unwrap_or_default();
    if let Some(why) = wrong {
        return Taken::Refused(refusal_answer(&answered, &make_refusal(ErrorCode::INVALID_REQUEST, why)));
    }
    let params = message.remove("params").unwrap_or_default();
    let Some(id) = usable else {
        // A notification with wrong params asks for nothing that could be done.
        let notification = serde_json::from_value(json!({ "method": method, "params": params }));
        return notification.map_or(Taken::Nothing, |notification: ClientNotification| {
            Taken::Message(Box::new(JsonRpcMessage::notification(notification)))
        });
    };
    match read_request(method.as_ref(), params) {
        Ok(request) => Taken::Message(Box::new(JsonRpcMessage::request(request, id))),
        Err(refusal) => Taken::Refused(refusal_answer(&answered, &refusal)),
    }
}

fn read_request(method: Option<&Value>, params: Value) -> Result<ClientRequest, ErrorData> {
    let mut params = match params {
        Value::Null => Map::new(),
        Value::Object(params) => params,
        _ => return Err(make_refusal(ErrorCode::INVALID_PARAMS, "`params` is not an object")),
    };
    if method.is_some_and(|method| method == "initialize") {
        // The server uses neither, so a client may leave them out.
        params.entry("capabilities").or_insert_with(|| json!({}));
        params.entry("clientInfo").or_insert_with(|| json!({ "name": "unknown", "version": "unknown" }));
    }
    serde_json::from_value(json!({ "method": method, "params": params }))
        .map_err(|_| make_refusal(ErrorCode::INVALID_PARAMS, "`params` do not fit the method"))
}

fn cancelled_request(message: &ClientJsonRpcMessage) -> Option<RequestId> {
    match message {
        JsonRpcMessage::Notification(notification) => match &notification.notification {
            ClientNotification::CancelledNotification(cancelled) => cancelled.params.request_id.clone(),
            _ => None,
        },
        _ => None,
    }
}

fn answered_request(message: &ServerJsonRpcMessage) -> Option<&RequestId> {
    match message {
        JsonRpcMessage::Response(response) => Some(&response.id),
        JsonRpcMessage::Error(error) => error.id.as_ref(),
        _ => None,
    }
}

fn make_refusal(code: ErrorCode, why: impl Into<String>) -> ErrorData {
    ErrorData::new(code, why.into(), None)
}

fn refusal_answer(id: &Value, refusal: &ErrorData) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": refusal })
}

/// A batch that came in: its open requests, and the answers so far, which are sent together.
#[derive(Default)]
struct Batch {
    awaited: Vec<RequestId>,
    answers: Vec<Value>,
}

impl Batch {
    /// A cancelled request gets no answer, so nothing waits for it.
    fn cancel(&mut self, id: &RequestId) {
        self.awaited.retain(|awaited| awaited != id);
    }
}

#[derive(Default)]
struct Answers {
    /// The client's revision has batches.
    batches: bool,
    batched: Vec<Batch>,
}

impl Answers {
    fn give(&mut self, message: &ServerJsonRpcMessage) -> io::Result<()> {
        if let JsonRpcMessage::Response(response) = message
            && let ServerResult::InitializeResult(hello) = &response.result
        {
            self.batches = hello.protocol_version == WITH_BATCHES;
        }
        let id = answered_request(message);
        let message = serde_json::to_value(message)?;
        let batch = self.batched.iter_mut().find_map(|batch| {
            let at = batch.awaited.iter().position(|awaited| Some(awaited) == id)?;
            Some((batch, at))
        });
        let Some((batch, at)) = batch else { return Answers::print(&message) };
        batch.awaited.swap_remove(at);
        batch.answers.push(message);
        self.finish_batches()
    }

    fn finish_batches(&mut self) -> io::Result<()> {
        let (done, open) =
            std::mem::take(&mut self.batched).into_iter().partition(|batch| batch.awaited.is_empty());
        self.batched = open;
        let done: Vec<Batch> = done;
        // Notifications alone get no answer.
        for batch in done.into_iter().filter(|batch| !batch.answers.is_empty()) {
            Answers::print(&Value::Array(batch.answers))?;
        }
        Ok(())
    }

    fn print(message: &Value) -> io::Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        let mut out = io::stdout().lock();
        out.write_all(&line)?;
        out.flush()
    }
}
