match command:
    case "go":
        speed = 1
    case "run":
        speed = 2
    case _:
        speed = 0
