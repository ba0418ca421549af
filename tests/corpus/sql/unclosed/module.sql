SELECT 1;

SELECT 'never closed;

SELECT 2;
