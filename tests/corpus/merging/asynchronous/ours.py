async def fetch(session, url, *, timeout=5):
    async with session.get(url) as answer:
        return await answer.text()


async def main():
    title = "fetch"
