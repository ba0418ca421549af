// about App
@Component({
  selector: "app",
})
export class App {
  @Input() name: string;

  @HostListener("click")
  // between
  @Log
  onClick(): void {
    go();
  }

  handler = async (event: Event): Promise<void> => {
    go();
  };
}
