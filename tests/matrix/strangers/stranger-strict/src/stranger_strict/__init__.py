"""The device type "strict": the arrays of array-api-strict, which do what the array API standard says and no more."""
