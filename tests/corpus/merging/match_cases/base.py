match command:
    case "go":
        speed = 1
    case "stop":
        speed = 0
