match command:
    case "go":
        speed = 2
    case "stop":
        height = 0
        speed = 0
