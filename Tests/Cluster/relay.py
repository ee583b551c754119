"""Passes connections on to a server; from SIGUSR1 to SIGUSR2 about every third part of what the server sends comes twice.

    relay.py ADDRESS PORT SERVER-PORT
"""

import asyncio
import random
import signal
import sys


class Relay:
    def __init__(self, address, port, target):
        self.address, self.port, self.target = address, port, target
        self.chance, self.repeats = random.Random(1), False

    async def run(self):
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGUSR1, lambda: setattr(self, "repeats", True))
        loop.add_signal_handler(signal.SIGUSR2, lambda: setattr(self, "repeats", False))
        server = await asyncio.start_server(self.serve, self.address, self.port)
        await server.serve_forever()

    async def serve(self, reader, writer):
        try:
            above_reader, above_writer = await asyncio.open_connection(self.address, self.target)
        except OSError:
            writer.close()
            return
        await asyncio.gather(self.pump(reader, above_writer, False), self.pump(above_reader, writer, True))

    async def pump(self, reader, writer, is_reply):
        try:
            while part := await reader.read(65536):
                writer.write(part * 2 if is_reply and self.repeats and self.chance.random() < 0.3 else part)
                await writer.drain()
        except OSError:
            pass
        writer.close()


if __name__ == "__main__":
    asyncio.run(Relay(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])).run())
