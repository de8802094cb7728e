"""What operations do to resources: uploads, Assets and Products, ingredients,
Generations, and the work behind them.
"""
