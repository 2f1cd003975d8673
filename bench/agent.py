"""A loopback agent that answers at once (or after `--latency` ms) and keeps connections alive.

It is written on asyncio streams so that it costs as little as possible beside what is measured.
"""

import argparse
import asyncio
import json

ANSWER = json.dumps({"choices": [{"message": {"role": "assistant", "content": "Your order is on the way."}}]}).encode()
RESPONSE = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: "
    + str(len(ANSWER)).encode()
    + b"\r\n\r\n"
    + ANSWER
)


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, latency: float) -> None:
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = 0
            for line in head.split(b"\r\n"):
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            if length:
                await reader.readexactly(length)
            if latency:
                await asyncio.sleep(latency)
            writer.write(RESPONSE)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def main(port: int, latency: float) -> None:
    server = await asyncio.start_server(lambda r, w: serve(r, w, latency), "127.0.0.1", port, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0, help="milliseconds")
    arguments = parser.parse_args()
    asyncio.run(main(arguments.port, arguments.latency / 1000))
