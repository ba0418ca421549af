match command:
    case "go":
        speed = 1
    case "stop":
        height = 0
        speed = 0
