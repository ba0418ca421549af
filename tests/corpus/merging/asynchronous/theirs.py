async def fetch(session, url):
    async with session.get(url) as answer:
        return await answer.text()


async def main():
    title = "fetch all"
