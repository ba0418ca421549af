// text that looks like code
export const Page = () => (
  <p>
    function no() {"{"}
  </p>
);

export class View extends Component<{}> {
  render() {
    return <>{this.props.children}</>;
  }
}
