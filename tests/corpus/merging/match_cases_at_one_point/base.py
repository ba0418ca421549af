match command:
    case "go":
        speed = 1
    case _:
        speed = 0
