<?php
// Code of a file, in which sleepers.php sleeps.
\Sleepers\rest();
