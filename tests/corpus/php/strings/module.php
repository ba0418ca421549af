<?php
$text = <<<TEXT
function no() {
}
TEXT;

# about yes
function yes()
{
    return '}' . "{$text['a']}";
}
