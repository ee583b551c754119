"""Many gRPC calls that are begun and not brought to an end."""

import socket
import time

import h2.config
import h2.connection
import h2.events
import h2.exceptions

HEADERS = [
    (":method", "POST"), (":scheme", "http"), (":path", "/envoy.service.auth.v3.Authorization/Check"),
    (":authority", "assay"), ("te", "trailers"), ("content-type", "application/grpc"),
]


def calls_with_table(target, size, calls):
    """Makes empty calls, one after another, as a client that takes a header table of this size.

    Gives the sizes in bytes that the server chose for its table, without repetition.
    """
    host, _, port = target.rpartition(":")
    http = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True))
    http.local_settings.header_table_size = size
    # As if the server had agreed already: the preface announces this size, and the client takes each size up to it.
    http.local_settings.acknowledge()
    http.decoder.max_allowed_table_size = size
    http.initiate_connection()
    sizes = set()
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        for _ in range(calls):
            stream = http.get_next_available_stream_id()
            http.send_headers(stream, HEADERS)
            http.send_data(stream, bytes(5), end_stream=True)
            connection.sendall(http.data_to_send())
            is_over = False
            while not is_over:
                data = connection.recv(65536)
                assert data, "the server closed the connection"
                for event in http.receive_data(data):
                    is_over = is_over or isinstance(event, (h2.events.StreamEnded, h2.events.StreamReset))
                connection.sendall(http.data_to_send())
            sizes.add(http.decoder.header_table_size)
    return sizes


class Caller:
    """A connection of Envoy's kind: whole calls, and calls that are reset as soon as they are sent."""

    def __init__(self, target):
        host, _, port = target.rpartition(":")
        self.socket = socket.create_connection((host, int(port)), timeout=30)
        self.http = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True))
        self.http.initiate_connection()
        # Why the server ends the connection, and what came of the streams that were not reset.
        self.goodbyes, self.data, self.ended = [], {}, set()

    def begin(self, message, resets=False):
        stream = self.http.get_next_available_stream_id()
        self.http.send_headers(stream, HEADERS)
        self.http.send_data(stream, b"\0" + len(message).to_bytes(4, "big") + message, end_stream=True)
        if resets:
            self.http.reset_stream(stream, 8)
        self.socket.sendall(self.http.data_to_send())
        return stream

    def answer(self, stream):
        """The message of a call; None if the connection or the stream ends without one."""
        while stream not in self.ended and not self.goodbyes:
            data = self.socket.recv(65536)
            if not data:
                return None
            for event in self.http.receive_data(data):
                if isinstance(event, h2.events.DataReceived):
                    self.data[event.stream_id] = self.data.get(event.stream_id, b"") + event.data
                    self.http.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                elif isinstance(event, (h2.events.StreamEnded, h2.events.StreamReset)):
                    self.ended.add(event.stream_id)
                elif isinstance(event, h2.events.ConnectionTerminated):
                    self.goodbyes.append(event.error_code)
            self.socket.sendall(self.http.data_to_send())
        return self.data[stream][5:] if stream in self.data else None

    def close(self):
        self.socket.close()


class Connection:
    def __init__(self, address, streams, declared, withheld):
        self.socket = socket.create_connection(address)
        self.socket.setblocking(False)
        self.http = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True))
        self.http.initiate_connection()
        self.wanted, self.declared, self.size = streams, declared, declared + 5 - withheld
        self.sent, self.out, self.is_open = {}, b"", True

    def step(self):
        if not self.is_open:
            return
        try:
            self._receive()
            self._send()
        except BlockingIOError:
            pass
        except (OSError, h2.exceptions.ProtocolError):
            self.is_open = False

    def _receive(self):
        try:
            data = self.socket.recv(65536)
        except BlockingIOError:
            return
        if not data:
            self.is_open = False
        for event in self.http.receive_data(data):
            if isinstance(event, h2.events.RemoteSettingsChanged):
                for _ in range(self.wanted):
                    stream = self.http.get_next_available_stream_id()
                    self.http.send_headers(stream, HEADERS)
                    self.sent[stream] = 0
                self.wanted = 0
            elif isinstance(event, h2.events.StreamReset):
                self.sent.pop(event.stream_id, None)

    def _send(self):
        for stream, sent in list(self.sent.items()):
            while sent < self.size:
                count = min(self.http.local_flow_control_window(stream), 16384, self.size - sent)
                if count < 5:
                    break
                prefix = b"\0" + self.declared.to_bytes(4, "big") if sent == 0 else b""
                self.http.send_data(stream, prefix + bytes(count - len(prefix)))
                sent = self.sent[stream] = sent + count
        self.out += self.http.data_to_send()
        while self.out:
            self.out = self.out[self.socket.send(self.out):]


class Flood:
    """Connections with streams of which each declares a message of so many bytes, and withholds some of them."""

    def __init__(self, target, connections, streams, declared, withheld):
        host, _, port = target.rpartition(":")
        self.connections = [
            Connection((host, int(port)), streams, declared, withheld) for _ in range(connections)]

    def run(self, seconds, until=lambda: False):
        end = time.monotonic() + seconds
        while time.monotonic() < end and not until():
            for connection in self.connections:
                connection.step()
            time.sleep(0.001)

    def open_streams(self):
        return sum(len(each.sent) + each.wanted for each in self.connections if each.is_open)

    def close(self):
        for connection in self.connections:
            connection.socket.close()
