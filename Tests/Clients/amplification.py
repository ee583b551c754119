"""What requests cost a server in CPU time."""

import ctypes
import os
import socket
import time
import urllib.parse

import grpc

_libc = ctypes.CDLL(None, use_errno=True)
# So long may a request take by the wall clock; one that takes longer has failed, whatever it costs in the end.
PATIENCE = 4.0
# What a request may cost: so many times what a plain one does, or so many seconds whatever that is.
# A debug build takes more than ten times as long as a release build: its 40 ms are less than 4 ms there.
FACTOR, FREE = 3, 0.04 if "/debug/" in os.environ["ASSAY"] else 0.005
# How often what is over the bound is measured again.
TRIES = 3
# With so many failures nothing further is tried.
ENOUGH = 40


class TooSlow(Exception):
    """A request was not answered in time."""


class Clock:
    """The CPU time of all threads of a process, those that have ended included.

    The kernel keeps it, and tells it of any process without a file of /proc.
    """

    def __init__(self, process_id):
        clock = ctypes.c_int()
        error = _libc.clock_getcpuclockid(ctypes.c_int(process_id), ctypes.byref(clock))
        if error:
            raise OSError(error, os.strerror(error))
        self.clock = clock.value

    def now(self):
        return time.clock_gettime(self.clock)

    def settled(self):
        """The time once nothing runs any more: what comes after an answer belongs to the request, too."""
        last, deadline = self.now(), time.monotonic() + PATIENCE
        while True:
            time.sleep(0.0005)
            present = self.now()
            if present - last < 0.00008:
                return present
            if time.monotonic() > deadline:
                raise TooSlow("runs on after its answer")
            last = present


class Connection:
    """One connection of HTTP/1.1 after the other; nothing checks or changes what is sent."""

    def __init__(self, address):
        url = urllib.parse.urlsplit(address)
        self.place = (url.hostname, url.port)
        self.socket = None
        self.buffer = b""

    def close(self):
        if self.socket:
            self.socket.close()
        self.socket, self.buffer = None, b""

    def send(self, request):
        """The status of the answer; 0 when the connection ends without one."""
        deadline = time.monotonic() + PATIENCE
        try:
            if self.socket is None:
                self.socket = socket.create_connection(self.place, PATIENCE)
            self.socket.settimeout(PATIENCE)
            try:
                self.socket.sendall(request)
            except (BrokenPipeError, ConnectionResetError):
                pass
            head = self._until(b"\r\n\r\n", deadline)
        except TimeoutError as error:
            self.close()
            raise TooSlow(f"not answered in {PATIENCE} s") from error
        except (ConnectionError, EOFError):
            self.close()
            return 0
        status = int(head.split(b" ", 2)[1])
        fields = dict(
            (name.lower(), value.strip()) for name, _, value in (line.partition(b":") for line in head.split(b"\r\n")[1:]))
        try:
            length = int(fields.get(b"content-length", b"0"))
            if request.startswith(b"HEAD "):
                length = 0
            while len(self.buffer) < length:
                self._receive(deadline)
            self.buffer = self.buffer[length:]
        except (TimeoutError, ConnectionError, EOFError):
            self.close()
            return status
        if fields.get(b"connection", b"").lower() == b"close" or fields.get(b"transfer-encoding"):
            self.close()
        return status

    def _until(self, end, deadline):
        while end not in self.buffer:
            self._receive(deadline)
        head, _, self.buffer = self.buffer.partition(end)
        return head

    def _receive(self, deadline):
        if time.monotonic() > deadline:
            raise TimeoutError
        data = self.socket.recv(1 << 16)
        if not data:
            raise EOFError
        self.buffer += data


class Checks:
    """Envoy's question over gRPC, with messages that nothing checks or changes."""

    METHOD = "/envoy.service.auth.v3.Authorization/Check"

    def __init__(self, target):
        # Channels to one place share a connection otherwise, also with a server that is gone.
        self.channel = grpc.insecure_channel(target, options=[("grpc.use_local_subchannel_pool", 1)])
        self.check = self.channel.unary_unary(self.METHOD)

    def send(self, message):
        """The code of gRPC, 0 for an answer."""
        try:
            self.check(message, timeout=PATIENCE, wait_for_ready=True)
            return 0
        except grpc.RpcError as error:
            if error.code() == grpc.StatusCode.DEADLINE_EXCEEDED:
                raise TooSlow(f"not answered in {PATIENCE} s") from error
            return error.code().value[0]

    def close(self):
        self.channel.close()


class Meter:
    """Measures what requests cost a server; one that is stuck is killed and started again."""

    def __init__(self, server, transport):
        self.server = server
        # Makes what sends: a function of the server.
        self.transport = transport
        self._attach()

    def _attach(self):
        self.clock = Clock(self.server.process.pid)
        self.sender = self.transport(self.server)

    def cost(self, request, times=1):
        """The least CPU time of some tries in seconds, and the status."""
        least = None
        for _ in range(times):
            begin = self.clock.settled()
            try:
                status = self.sender.send(request)
                spent = self.clock.settled() - begin
            except TooSlow:
                spent, status = max(PATIENCE, self.clock.now() - begin), None
                self.restart()
                return spent, status
            least = spent if least is None else min(least, spent)
        return least, status

    def restart(self):
        self.sender.close()
        self.server.process.kill()
        self.server.process.wait()
        self.server.start()
        self._attach()


class Judge:
    """Compares what texts cost with what plain ones cost; what failed is in `failures`."""

    def __init__(self, meter):
        self.meter = meter
        self.plain = {}
        self.failures = []
        self.count = 0

    def judge(self, name, text, request, plain_request):
        self.count += 1
        cost, _ = self.meter.cost(request)
        if cost <= FREE:
            return
        plain = self._plain(plain_request)
        if cost <= FACTOR * plain:
            return
        for _ in range(TRIES if cost < 1 else 0):
            cost = min(cost, self.meter.cost(request)[0])
            plain = max(plain, self.meter.cost(plain_request)[0])
            if cost <= max(FREE, FACTOR * plain):
                return
        self.failures.append(f"{name}: {text}: {cost * 1000:.1f} ms, {cost / plain:.0f} times a plain one")

    def grows(self, name, place, make):
        """Judges whether an ordinary structure costs no more than its size."""
        self.count += 1
        parts = 16
        whole, part = (place.request(make(place.room // each)) for each in (1, parts))
        for _ in range(TRIES + 1):
            cost, share = self.meter.cost(whole)[0], self.meter.cost(part)[0]
            if cost <= max(FREE, FACTOR * parts * share):
                return
        self.failures.append(
            f"{name}: an ordinary structure: {cost * 1000:.1f} ms, {cost / share:.0f} times one of a {parts}th of its size")

    def _plain(self, request):
        key = hash(request)
        if key not in self.plain:
            self.plain[key] = self.meter.cost(request, 2)[0]
        return self.plain[key]

    def report(self):
        assert not self.failures, f"{len(self.failures)} of {self.count}:\n" + "\n".join(self.failures)
