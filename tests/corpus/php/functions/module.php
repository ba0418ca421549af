<?php
// about total
function total(array $items): int
{
    return array_sum(array_map(fn ($item) => $item, $items));
}

if (!function_exists('helper')) {
    function helper() {}
}

$later = function () {
    return 1;
};
?>
<p>function no() {}</p>
<?php
function below() {}
