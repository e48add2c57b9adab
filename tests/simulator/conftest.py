from support.turns import take_turns

take_turns()
