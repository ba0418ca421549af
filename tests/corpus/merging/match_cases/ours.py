match command:
    case "go":
        speed = 2
    case "stop":
        speed = 0
