<?php
function before() {}

class Broken
{
    public function run()
    {
        call(
    }
}

function after() {}
