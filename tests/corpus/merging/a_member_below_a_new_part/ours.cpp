class Field {
public:
    int width;
private:
    int height;
};
