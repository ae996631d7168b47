from pool import *

connect("db")
