match command:
    case "go":
        speed = 1
    case [first, *rest]:
        speed = 3
    case _:
        speed = 0
