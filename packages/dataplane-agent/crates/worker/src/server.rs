//! The agent's Unix socket: several clients, none of which can block or stop the control thread.

use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use tollway_config::framing::{self, Decoder};
use tollway_config::protocol::{ErrorCode, ErrorReply, Event, MAX_FRAME, Message, Request};

/// Bytes that may be buffered for a client that does not read; above this it is disconnected.
const OUTPUT_LIMIT: usize = (MAX_FRAME as usize) + (16 << 20);
/// Buffered bytes above which events for a client are discarded.
const EVENT_LIMIT: usize = 1 << 20;
/// Sent bytes at the front of a client's buffer above which it is compacted.
const COMPACT: usize = 1 << 20;
/// Most clients.
const CLIENTS: usize = 64;
/// Bytes read from one client per round, so that none starves the others.
const READ_PER_ROUND: usize = 4 << 20;

/// A connected client.
#[derive(Debug)]
struct Client {
    stream: UnixStream,
    input: Decoder,
    output: Vec<u8>,
    sent: usize,
    greeted: bool,
    closing: bool,
}

/// The listening socket and its clients.
#[derive(Debug)]
pub struct Server {
    listener: UnixListener,
    path: PathBuf,
    clients: Vec<Client>,
}

/// The answer to a request.
pub type Answer = Message;

impl Server {
    /// Listens on `path`, where a former agent may have left its socket.
    ///
    /// # Errors
    /// When the directory cannot be written, or another agent answers there.
    pub fn bind(path: &Path) -> std::io::Result<Self> {
        if UnixStream::connect(path).is_ok() {
            return Err(std::io::Error::new(ErrorKind::AddrInUse, "another agent is listening there"));
        }
        if let Some(parent) = path.parent() {
            tollway_io::owner_only_files::create_folder(parent)?;
        }
        let _ = std::fs::remove_file(path);
        Ok(Self { listener: listen(path)?, path: path.to_owned(), clients: Vec::new() })
    }

    /// Listens anew when the socket has been removed, so that clients can connect.
    pub fn keep_listening(&mut self) {
        if self.path.symlink_metadata().is_err_and(|error| error.kind() == ErrorKind::NotFound)
            && let Ok(listener) = listen(&self.path)
        {
            self.listener = listener;
        }
    }

    /// Descriptors to poll, with the events of interest. The listening socket is not among them (-1, which
    /// poll passes over) while there are [`CLIENTS`]: pending connections would keep it readable.
    pub fn interests(&self) -> impl Iterator<Item = (RawFd, libc::c_short)> {
        let clients = self.clients.iter().map(|client| {
            let writing = client.sent < client.output.len();
            (client.stream.as_raw_fd(), if writing { libc::POLLIN | libc::POLLOUT } else { libc::POLLIN })
        });
        let room = self.clients.len() < CLIENTS;
        let listener = if room { self.listener.as_raw_fd() } else { -1 };
        std::iter::once((listener, libc::POLLIN)).chain(clients)
    }

    /// Accepts clients, reads, and answers every complete request with `answer`. Its second argument is whether the
    /// client has said hello; `answer` sets it when the client does.
    pub fn serve(&mut self, mut answer: impl FnMut(Request, &mut bool) -> Answer) {
        while self.clients.len() < CLIENTS {
            match self.listener.accept() {
                Ok((stream, _)) => {
                    if stream.set_nonblocking(true).is_ok() {
                        self.clients.push(Client {
                            stream,
                            input: Decoder::default(),
                            output: Vec::new(),
                            sent: 0,
                            greeted: false,
                            closing: false,
                        });
                    }
                }
                Err(_) => break,
            }
        }
        for client in &mut self.clients {
            client.read();
            client.answer(&mut answer);
            client.write();
        }
        self.clients.retain(|client| !client.closing);
    }

    /// Whether some client has said hello.
    pub fn has_listeners(&self) -> bool {
        self.clients.iter().any(|client| client.greeted)
    }

    /// Sends an event to every client that has said hello.
    pub fn publish(&mut self, event: Event) {
        let Ok(frame) = framing::encode(&Message::Event(event)) else { return };
        for client in self.clients.iter_mut().filter(|client| client.greeted) {
            if client.output.len() - client.sent < EVENT_LIMIT {
                client.output.extend_from_slice(&frame);
                client.write();
            }
        }
        self.clients.retain(|client| !client.closing);
    }
}

fn listen(path: &Path) -> std::io::Result<UnixListener> {
    let listener = UnixListener::bind(path)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

impl Client {
    fn read(&mut self) {
        let mut buffer = [0; 64 << 10];
        let mut total = 0;
        while total < READ_PER_ROUND {
            match self.stream.read(&mut buffer) {
                Ok(0) => {
                    self.closing = true;
                    return;
                }
                Ok(count) => {
                    total += count;
                    self.input.extend(buffer.get(..count).unwrap_or_default());
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(_) => {
                    self.closing = true;
                    return;
                }
            }
        }
    }

    fn answer(&mut self, answer: &mut impl FnMut(Request, &mut bool) -> Answer) {
        loop {
            let message = match self.input.next_frame() {
                Ok(None) => return,
                Ok(Some(frame)) => match framing::request_from_msgpack(frame) {
                    Ok(request) => answer(request, &mut self.greeted),
                    Err(reason) => {
                        let id = framing::request_id(frame);
                        error(id, ErrorCode::BadRequest, &format!("not a request of this protocol: {reason}"))
                    }
                },
                Err(framing::TooLong(length)) => {
                    let reason =
                        format!("a frame of {length} bytes is longer than the {MAX_FRAME} that are accepted");
                    self.push(&error(0, ErrorCode::BadRequest, &reason));
                    self.write();
                    self.closing = true;
                    return;
                }
            };
            self.push(&message);
            if self.closing {
                return;
            }
        }
    }

    fn push(&mut self, message: &Message) {
        let frame = framing::encode(message).or_else(|reason| {
            let id = if let Message::Reply(reply) = message { reply.id } else { 0 };
            framing::encode(&error(id, ErrorCode::Internal, &reason))
        });
        if self.output.len() - self.sent > OUTPUT_LIMIT {
            self.closing = true;
        } else if let Ok(frame) = frame {
            self.output.extend_from_slice(&frame);
        }
    }

    fn write(&mut self) {
        while let Some(rest) = self.output.get(self.sent..).filter(|rest| !rest.is_empty()) {
            match self.stream.write(rest) {
                Ok(count) => self.sent += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.forget_sent();
                    return;
                }
                Err(_) => {
                    self.closing = true;
                    return;
                }
            }
        }
        self.output.clear();
        self.output.shrink_to(1 << 20);
        self.sent = 0;
    }

    /// Removes sent bytes from the buffer, which would otherwise grow for a client that reads slowly and never
    /// everything.
    fn forget_sent(&mut self) {
        if self.sent > COMPACT {
            self.output.drain(..self.sent);
            self.sent = 0;
        }
    }
}

/// A refusal.
pub fn error(id: u32, code: ErrorCode, message: &str) -> Message {
    Message::Error(ErrorReply { id, code, message: message.to_owned(), row: None })
}

#[cfg(test)]
mod tests {
    use tollway_testkit::Folder;

    use super::*;

    fn client(stream: UnixStream) -> Client {
        stream.set_nonblocking(true).unwrap();
        Client {
            stream,
            input: Decoder::default(),
            output: Vec::new(),
            sent: 0,
            greeted: false,
            closing: false,
        }
    }

    #[test]
    fn a_client_that_is_always_behind_takes_no_more_memory_than_it_is_behind() {
        let (near, mut far) = UnixStream::pair().unwrap();
        let mut client = client(near);
        let mut taken = vec![0; 64 << 10];
        client.output.resize(1 << 20, 7);
        for _ in 0..200 {
            client.write();
            far.read_exact(&mut taken).unwrap();
            client.output.resize(client.output.len() + taken.len(), 7);
        }
        assert!(client.output.len() < 4 << 20, "{}", client.output.len());
        assert!(!client.closing);
    }

    #[test]
    fn a_socket_that_somebody_removed_is_made_again() {
        let folder = Folder::new("server");
        let path = folder.join("agent.sock");
        let mut server = Server::bind(&path).unwrap();
        server.keep_listening();
        let _first = UnixStream::connect(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        server.keep_listening();
        let _second = UnixStream::connect(&path).unwrap();
        server.serve(|_, _| error(0, ErrorCode::BadRequest, ""));
        assert_eq!(
            server.clients.len(),
            1,
            "who came by the old socket and was not accepted is gone with it"
        );
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn whoever_waits_for_a_place_does_not_keep_the_poll_awake() {
        let folder = Folder::new("server");
        let path = folder.join("agent.sock");
        let mut server = Server::bind(&path).unwrap();
        let refuse = |_: Request, _: &mut bool| error(0, ErrorCode::BadRequest, "");
        let mut streams: Vec<_> = (0..=CLIENTS).map(|_| UnixStream::connect(&path).unwrap()).collect();
        server.serve(refuse);
        assert_eq!(server.clients.len(), CLIENTS);
        assert_eq!(server.interests().next().map(|(fd, _)| fd), Some(-1));
        streams.truncate(CLIENTS - 1);
        server.serve(refuse);
        assert!(server.interests().next().is_some_and(|(fd, _)| fd >= 0));
    }
}
