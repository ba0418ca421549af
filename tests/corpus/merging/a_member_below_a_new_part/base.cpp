class Field {
public:
    int width;
};
