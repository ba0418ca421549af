#region First
class First
{
    void Run() {}
}
#endregion

#if DEBUG
class Debug
{
    void Run() {}
}
#else
class Release
{
    void Run() {}
}
#endif

int Local() => 1;
Console.WriteLine(Local());
