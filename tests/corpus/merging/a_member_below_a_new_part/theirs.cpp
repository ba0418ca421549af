class Field {
public:
    int width;
    int depth;
};
