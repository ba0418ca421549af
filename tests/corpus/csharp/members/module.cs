using System;

namespace Shop.Goods
{
    /// <summary>An item.</summary>
    [Serializable]
    public class Item<T> : Base where T : new()
    {
        private int limit = 3;

        public int Price { get; set; }

        public int Total
        {
            get { return 1; }
        }

        public Item(int limit) : base(limit) {}

        ~Item() {}

        // about Add
        [Obsolete]
        public void Add(int a, ref List<string> names, params object[] rest)
        {
            Go();
        }

        public void Add(string name) => Go();

        public static Item<T> operator +(Item<T> a, Item<T> b) => a;
        public static implicit operator int(Item<T> a) => 1;
        public int this[int index] => 1;
        void ISeller.Sell() {}
        delegate void Done();
    }
}
