class Before
{
    void Run() {}
}

class Broken
{
    void Run()
    {
        Call(
    }
}

class After {}
