#!/usr/bin/env node
import React from "react";

export const Button = React.memo(function Button({ label }) {
  return <button style={{ color: "red" }}>{label}</button>;
});

const List = forwardRef((props, ref) => {
  return <ul ref={ref} />;
});

const names = items.map((item) => item.name);
